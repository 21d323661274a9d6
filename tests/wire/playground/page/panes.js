// Shows Discord, Slack or both; a narrow window has room for one of them.

const narrow = matchMedia("(max-width: 820px)");
const choices = document.querySelectorAll("input[name=shown]");

function show(which) {
  document.body.dataset.shown = which;
  for (const choice of choices) choice.checked = choice.value === which;
}

/** Leave "side by side" where there is no room for it. */
function fit() {
  if (narrow.matches && document.body.dataset.shown === "both") show("discord");
}

for (const choice of choices) choice.addEventListener("change", () => show(choice.value));
narrow.addEventListener("change", fit);
show("both");
fit();
