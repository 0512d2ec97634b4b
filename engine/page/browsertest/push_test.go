package browsertest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"tandem/engine/page/devices"
)

// notifications subscribes a browser and checks that a push arrives there. The push service is a
// fake, because a headless browser has none.
func notifications(m *machine, t *testing.T) {
	registered := make(chan serviceworker.RegistrationID, 1)
	p := m.tab(t)
	err := chromedp.Listen(p.ctx, func(event any) {
		if e, ok := event.(*serviceworker.EventWorkerRegistrationUpdated); ok && len(e.Registrations) > 0 {
			select {
			case registered <- e.Registrations[0].RegistrationID:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	origin := strings.TrimSuffix(m.url, "/")
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		c := chromedp.FromContext(ctx)
		_, err := cdp.Call(ctx, c.Browser, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: browser.PermissionSettingGranted,
			Origin: origin, BrowserContextID: c.BrowserContextID,
		})
		if err == nil {
			_, err = cdp.Call(ctx, t, serviceworker.Enable, cdp.Empty{})
		}
		return err
	}))
	p.do(chromedp.Navigate(m.url + "#" + m.link()))
	p.until(`document.querySelector('.page')`)
	p.script(`PushManager.prototype.subscribe = async (o) => {
		globalThis.key = o.applicationServerKey.byteLength;
		return { toJSON: () => ({ endpoint: 'https://127.0.0.1:1/x', keys: { auth: 'A'.repeat(22), p256dh: 'A'.repeat(87) } }) };
	}`)
	p.until(`navigator.serviceWorker.controller`)
	p.switchNotifications(true)
	p.until(`globalThis.key === 65`)
	subscribed := func() (n int) {
		all, err := devices.Open(filepath.Join(m.dir, "d")).List()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if d.Push != nil {
				n++
			}
		}
		return n
	}
	p.until(pageAPI + `.then((a) => a.pushing()).then((is) => is.on)`)
	if n := subscribed(); n != 1 {
		t.Errorf("%d devices are subscribed", n)
	}
	p.switchNotifications(false)
	p.until(pageAPI + `.then((a) => a.pushing()).then((is) => !is.on)`)
	if n := subscribed(); n != 0 {
		t.Errorf("%d devices are subscribed still", n)
	}

	arrive := func() {
		id := <-registered
		registered <- id
		p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: id, Data: "box needs you"})
			return err
		}))
	}
	shown := `navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => all.map((n) => n.title + ': ' + n.body).join())`
	p.do(chromedp.Navigate("about:blank"))
	arrive()
	p.do(chromedp.Navigate(m.url))
	p.until(shown + `.then((text) => text === 'Tandem: box needs you')`)
}

// switchNotifications answers the settings.
func (p *tab) switchNotifications(on bool) {
	p.Helper()
	p.click(".top button[title=Settings]")
	box := `document.querySelector('dialog input[name=notify]')`
	p.until(box + ` && !` + box + `.disabled`)
	if value[bool](p, box+".checked") == on {
		p.Errorf("notifications are %v already", on)
	}
	p.click("dialog input[name=notify]")
	p.click("dialog button[type=submit]")
	p.until(`!document.querySelector('dialog')`)
}
