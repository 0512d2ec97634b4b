import { pushing, subscribe } from './api.js';

// Notifications of this browser, also while it shows no page.

// registration is the service worker's, where the browser lets it have notifications.
async function registration() {
  if (!('PushManager' in window) || !('Notification' in window)) return null;
  return await navigator.serviceWorker?.getRegistration() || null;
}

const bytes = (key) => Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

// state tells how it is: on, off, refused by the person or the browser, or impossible here.
export async function state() {
  if (!await registration()) return 'impossible';
  if (Notification.permission === 'denied') return 'refused';
  const { on } = await pushing();
  return on && Notification.permission === 'granted' ? 'on' : 'off';
}

// turn asks the browser for notifications and has them sent, or ends that. It gives what state
// would.
export async function turn(on) {
  const at = await registration();
  if (!on) {
    await subscribe(null);
    await (await at?.pushManager.getSubscription())?.unsubscribe();
    return 'off';
  }
  if (await Notification.requestPermission() !== 'granted') return 'refused';
  const { key } = await pushing();
  const options = { userVisibleOnly: true, applicationServerKey: bytes(key) };
  let made;
  try {
    made = await at.pushManager.subscribe(options);
  } catch (err) {
    if (err.name !== 'InvalidStateError') throw err;
    await (await at.pushManager.getSubscription()).unsubscribe(); // it is of another key
    made = await at.pushManager.subscribe(options);
  }
  await subscribe(made.toJSON());
  return 'on';
}
