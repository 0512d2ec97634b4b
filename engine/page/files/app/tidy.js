import { link } from './proof.js';

const worker = new URL('/sw.js', location.href).href;

// tidy ends what another server at this address may have left while the real one was stopped:
// service workers that are none of the page's, and what they kept. Then it registers the page's
// own, which only makes the page installable and shows notifications; a link has none.
export async function tidy() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  try {
    for (const r of await workers.getRegistrations()) {
      const own = [r.installing, r.waiting, r.active].every((w) => !w || w.scriptURL === worker) && r.scope === new URL('/', location.href).href;
      if (!own) await r.unregister();
    }
    for (const name of await caches.keys()) await caches.delete(name); // the page keeps nothing there
    if (link) return;
    const r = await workers.register('/sw.js', { updateViaCache: 'none' });
    await r.update(); // a file of the same name may be another server's
  } catch { /* without a certificate that the browser trusts it has none */ }
}
