// A link to a proof opens it, wherever it is folded away; without this script a reader opens it by hand.
function reveal() {
  let id = "";
  try { id = decodeURIComponent(location.hash.slice(1)); } catch (error) { return; }
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
  const summary = target.querySelector("summary");
  if (summary) summary.focus({ preventScroll: true });
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
reveal();
