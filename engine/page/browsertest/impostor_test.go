package browsertest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// evilPage is the page of an impostor. It tries to steal the browser's key from the real page's
// storage, leaves a service worker behind, and signs with the key once it can reach the real
// server.
const evilPage = `<!doctype html><title>evil</title><body class="evil"><script type="module">
navigator.serviceWorker?.register('/evil.js', { updateViaCache: 'all' });
const result = (r) => new Promise((done, failed) => { r.onsuccess = () => done(r.result); r.onerror = failed; });
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const post = async (body) => (await fetch('/session', { method: 'POST', body: JSON.stringify(body) })).json();
const db = await result(indexedDB.open('tandem', 7));
const own = db.objectStoreNames.contains('keys') && await result(db.transaction('keys').objectStore('keys').get(''));
globalThis.loot = !own ? 'no key' : await crypto.subtle.exportKey('pkcs8', own.key).then(() => 'the key', () => 'a key that it cannot have');
if (own) {
	const { nonce } = await post({});
	const text = new TextEncoder().encode(['tandem page 1', location.origin, own.device, nonce].join('\n'));
	const signature = base64(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, own.key, text));
	if ((await post({ device: own.device, nonce, signature })).bearer) globalThis.loot = 'the use of the key';
}
</script>`

const evilWorker = `
self.addEventListener('install', (e) => { self.skipWaiting(); e.waitUntil(caches.open('evil').then((c) => c.add('/'))); });
self.addEventListener('activate', (e) => e.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (e) => { if (e.request.mode === 'navigate') e.respondWith(caches.match('/')); });`

// An impostor is a server that shows evilPage and records the cookies sent to it.
type impostor struct {
	*httptest.Server
	mu      sync.Mutex
	cookies []string
}

func newImpostor(t *testing.T, address string) *impostor {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	i := &impostor{}
	i.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.cookies = append(i.cookies, r.Header.Values("Cookie")...)
		i.mu.Unlock()
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, evilWorker)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, evilPage)
	}))
	i.Listener.Close()
	i.Listener = l
	i.Start()
	t.Cleanup(i.Close)
	return i
}

func (i *impostor) sent() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cookies
}

// impostors replaces the page by an impostor: on another port, and on the page's own port while it
// is stopped. What the impostor leaves in the browser must be gone soon after the real page is
// back.
func impostors(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	other := newImpostor(t, "127.0.0.1:0")
	p.do(chromedp.Navigate(other.URL))
	p.until(`globalThis.loot === 'no key'`)
	if sent := other.sent(); len(sent) > 0 {
		t.Errorf("another port is sent %q", sent)
	}

	at := strings.TrimSuffix(strings.TrimPrefix(m.url, "http://"), "/")
	m.stop()
	same := newImpostor(t, at)
	p.do(chromedp.Navigate(m.url + "?"))
	p.until(`globalThis.loot === 'a key that it cannot have'`)
	p.until(`caches.has('evil')`)
	p.until(`navigator.serviceWorker.controller`)
	if sent := same.sent(); len(sent) > 0 {
		t.Errorf("its own port is sent %q", sent)
	}
	p.do(chromedp.Navigate("about:blank"))
	same.Close()

	m.serve(at)
	p.do(chromedp.Navigate(m.url))
	p.until(`globalThis.loot === 'the use of the key'`) // while its page is loaded: docs/security-page.md
	p.do(chromedp.Navigate(m.url))
	p.until(`document.querySelector('.page')`)
	p.until(`navigator.serviceWorker.getRegistrations().then((all) => all.length === 1 && all[0].active?.scriptURL.endsWith('/sw.js'))`)
	p.until(`caches.keys().then((all) => all.length === 0)`)
	p.do(chromedp.Navigate(m.url))
	p.until(rowOf("shop"))

	// The browser can be paired again although the impostor deleted its key store.
	p.script(`globalThis.spoilt = new Promise((done, failed) => {
		const opening = indexedDB.open('tandem', 8);
		opening.onupgradeneeded = () => opening.result.deleteObjectStore('keys');
		opening.onsuccess = () => { opening.result.close(); done(true); };
		opening.onerror = failed;
	})`)
	p.until(`globalThis.spoilt`)
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(m.at(m.link())))
	p.until(rowOf("shop"))
	p.quiet("Failed to load resource", "is not valid JSON") // of the impostor's page
}
