package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/xtaci/smux"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/engine/hosts/transport"
)

// watch asks the engine of a machine again and again who it is, which tells
// whether it answers, how fast, and in which version. It returns when the link is
// lost, or when nothing has come for so long that another one is worth trying.
func (l *link) watch(ctx context.Context, session *smux.Session) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return openStream(ctx, session, transport.Preface{Origin: l.hosts.Origin})
	}}}
	defer client.CloseIdleConnections()
	next := time.NewTimer(0)
	defer next.Stop()
	for last := time.Now(); ; {
		select {
		case <-session.CloseChan():
			return nil
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		info, rtt, err := ping(ctx, client)
		switch {
		case session.IsClosed() || ctx.Err() != nil:
			return nil
		case err == nil:
			last = time.Now()
			if l.answered(info, rtt) {
				return nil
			}
		case errors.Is(err, smux.ErrInvalidProtocol):
			return errGarbled
		case time.Since(last) > silence:
			return fmt.Errorf("nothing came for %v", time.Since(last).Round(time.Second))
		default:
			l.silent(err)
		}
		next.Reset(pingStep)
	}
}

// answered takes down what a machine has answered. It reports whether the link is to
// be made anew: its bridge is of a release before that of the engine, which can more.
func (l *link) answered(info api.Info, rtt time.Duration) (renew bool) {
	l.set(func() {
		renew = !l.hello.Agents && info.Version != "" && info.Version != l.hello.Version
		l.state, l.fault, l.seen = api.MachineConnected, nil, time.Now()
		if info.Version != "" {
			l.hello.Version, l.hello.Protocol, l.hello.OldestProtocol = info.Version, info.Protocol, info.OldestProtocol
		}
		if l.rtt == 0 || rtt < l.rtt {
			l.rtt = rtt
		} else { // one that was held up says little
			l.rtt += (rtt - l.rtt) / 4
		}
	})
	return renew
}

func (l *link) silent(err error) {
	l.set(func() { l.state, l.fault = api.MachineAway, err })
}

// ping calls engine.info. An engine that is being replaced answers with an error,
// which is an answer too.
func ping(ctx context.Context, client *http.Client) (info api.Info, rtt time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://tandem"+wire.RoutePrefix+api.EngineInfo.Name, strings.NewReader("{}"))
	if err != nil {
		return info, 0, err
	}
	req.Header.Set(api.ClientHeader, "link")
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", pingTimeout)
		}
		return info, 0, wire.Root(err)
	}
	defer resp.Body.Close()
	rtt = time.Since(began)
	if resp.StatusCode == http.StatusOK {
		err = json.NewDecoder(resp.Body).Decode(&info)
	}
	return info, rtt, err
}
