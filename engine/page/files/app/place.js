// A place is what a page shows: { host, view, session, process }. A reload returns to it, and so does
// an installed page that a phone has closed; a new tab begins at the session in front.
import { link } from './proof.js';

const name = 'tandem place';
const storage = () => (matchMedia('(display-mode: standalone)').matches ? localStorage : sessionStorage);

export function lastPlace() {
  try {
    return !link && JSON.parse(storage().getItem(name)) || {};
  } catch {
    return {};
  }
}

export function keepPlace(place) {
  if (link) return;
  try {
    storage().setItem(name, JSON.stringify(place));
  } catch { /* the browser keeps nothing */ }
}
