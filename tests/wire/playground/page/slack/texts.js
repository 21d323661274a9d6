// What a message shows, as plain text.

/** Return what is written in a message: its text, or the texts of its blocks, and what it shares. */
export function textOf(message) {
  const own = message.text || written(message.blocks).join("\n");
  return [own, ...message.shared.map((each) => each.text || written(each.blocks).join("\n"))].filter(Boolean).join("\n");
}

function written(blocks) {
  return blocks.flatMap((block) => [block.text, ...(block.fields ?? []), ...(block.elements ?? [])]).flatMap((each) => {
    if (!each) return [];
    return typeof each === "string" ? [each] : written([each]);
  });
}
