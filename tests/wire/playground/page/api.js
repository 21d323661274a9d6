// The way to the server, below the address of the platform's page: actions by POST, what
// happens by server-sent events.

import { say } from "./dom.js";

/** Ask the server to do something; returns its answer, or null when it refused, which is said. */
export async function act(action, body) {
  try {
    const response = await fetch(`do/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (response.ok) return answer;
    say(answer.error);
  } catch {
    say("The playground does not answer. Is it still running?");
  }
  return null;
}

/** Hear everything that one person sees; `names` are the platform's own events. Returns what ends it. */
export function listen(user, store, names) {
  const source = new EventSource(`live?user=${encodeURIComponent(user)}`);
  for (const name of ["all", "bot", ...names]) {
    source.addEventListener(name, (event) => store.apply(name, JSON.parse(event.data)));
  }
  source.addEventListener("error", () => store.apply("bot", { state: "lost", detail: "Start the playground again and reload this page." }));
  return () => source.close();
}
