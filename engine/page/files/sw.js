// The service worker makes the page installable and shows notifications. It keeps nothing: what
// the page shows comes from the engine each time.
let replaces = false;
self.addEventListener('install', () => {
  replaces = Boolean(self.registration.active);
  self.skipWaiting();
});

// What it replaces is of another release, or another server's that had this address for a while:
// what that showed is loaded anew.
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  await self.clients.claim();
  if (!replaces) return;
  const pages = await self.clients.matchAll({ type: 'window' });
  await Promise.all(pages.map((p) => p.navigate(p.url).catch(() => {}))); // one may have gone
})()));
self.addEventListener('fetch', () => {});

// A push says which machine needs the person and nothing else. Who looks at the page sees that.
self.addEventListener('push', (event) => event.waitUntil((async () => {
  const pages = await self.clients.matchAll({ type: 'window' });
  if (pages.some((p) => p.visibilityState === 'visible')) return;
  await self.registration.showNotification('Tandem', { body: event.data?.text() || '', tag: 'needs-you', renotify: true, icon: 'icon-192.png' });
})()));

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const [page] = await self.clients.matchAll({ type: 'window' });
    await (page ? page.focus() : self.clients.openWindow('./'));
  })());
});
