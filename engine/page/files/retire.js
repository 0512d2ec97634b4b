// This takes the place of a service worker that is none of the page's: another server had this
// address and left it. It ends itself and has what it showed loaded from the real server.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  await self.clients.claim();
  const pages = await self.clients.matchAll({ type: 'window' });
  await self.registration.unregister();
  await Promise.all(pages.map((p) => p.navigate(p.url).catch(() => {}))); // one may have gone
})()));
