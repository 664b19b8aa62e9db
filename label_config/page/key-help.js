/** The dialog that names the keys. */

import { el } from "./dom.js";

export function keyHelp(session) {
  const several = session.dimensions.length > 1;
  const rows = [
    ...session.dimensions.flatMap((dimension) =>
      dimension.categories.map(({ key, name }) => [
        [key?.toUpperCase()],
        several ? `${dimension.title}: ${name}` : name,
      ]),
    ),
    [["0"], "Unsure"],
    ...(session.copilot ? [[["A"], "Accept the suggestion"]] : []),
    [["N"], "Write a note; Esc leaves it"],
    [["Enter"], "Go on to the next undecided unit"],
    [["Backspace"], "Back to the previous unit"],
    [["↑", "↓"], "Previous and next unit"],
    ...(several ? [[["←", "→"], "Previous and next question of the unit"]] : []),
    [["Ctrl", "Enter"], "Finish the conversation"],
    [["?"], "These keys"],
  ].filter(([keys]) => keys[0]);
  const list = el(
    "dl",
    {},
    ...rows.flatMap(([keys, does]) => [el("dt", {}, ...keys.map((key) => el("kbd", {}, key))), el("dd", {}, does)]),
  );
  const close = el("button", { type: "button", class: "finish", onclick: () => dialog.close() }, "Close (Esc)");
  const dialog = el(
    "dialog",
    { class: "help", "aria-label": "Keys", "data-testid": "help-dialog" },
    el("h2", {}, "Keys"),
    el("p", {}, "Pressing the key of the chosen category again takes the choice back."),
    list,
    close,
  );
  return dialog;
}
