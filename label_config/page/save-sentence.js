/**
 * What the page says about saving, from the queue's status {state, count, reason, kept}. "Saved" only when the server
 * has acknowledged everything.
 */
export function saveSentence({ state, count, reason, kept }) {
  const choices = count === 1 ? "1 choice" : `${count} choices`;
  const lose = kept ? "" : " This browser keeps nothing: leave the page open until it says Saved.";
  if (state === "saved") return "Saved";
  if (state === "saving") return `Saving…${lose}`;
  if (state === "offline") return kept ? `Offline – ${choices} kept here` : `Offline – ${choices} not saved.${lose}`;
  if (state === "retrying") return `Not saved yet – retrying (${choices})${lose}`;
  if (reason !== "signed_out") return `Not saved: ${reason}`;
  const unsaved = count === 1 ? "1 unsaved choice is" : `${count} unsaved choices are`;
  return `You are signed out. Sign in again in another tab${kept ? `; your ${unsaved} kept in this browser` : ""}.${lose}`;
}
