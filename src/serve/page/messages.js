// Messages of the page to the user.

import { byId } from "../../render/page/dom.js";

/** Timers of what is shown or told for a while only. */
const timers = { kept: 0, announcement: 0 };

/** Shows a problem below the translation; an empty message hides the former one. */
export function showProblem(message) {
  byId("problem").textContent = message.charAt(0).toUpperCase() + message.slice(1);
  byId("problem").hidden = message === "";
}

/** Says for a while what was kept. */
export function showKept(text) {
  byId("kept").textContent = text;
  clearTimeout(timers.kept);
  timers.kept = setTimeout(() => {
    byId("kept").textContent = "";
  }, 4000);
}

/** Tells screen readers the translation once typing rests. */
export function announce(text) {
  clearTimeout(timers.announcement);
  timers.announcement = setTimeout(() => {
    byId("announcer").textContent = text;
  }, 800);
}
