// The service worker makes the page installable. It keeps nothing: what the page shows comes
// from the engine each time.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', () => {});
