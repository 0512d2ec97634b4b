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
	"tandem/engine/remote/hosts/transport"
)

// watch pings the engine of a machine periodically, for its availability, round-trip time and
// version. It returns when the link is lost, or has been silent for so long that a new link may
// help.
func (l *link) watch(ctx context.Context, session *smux.Session) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return openSmuxStream(ctx, session, transport.Preface{Origin: l.hosts.Origin})
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
		// Check this first, because the error of a ping on a closed session is irrelevant.
		case session.IsClosed() || ctx.Err() != nil:
			return nil
		case err == nil:
			last = time.Now()
			if l.recordPing(info, rtt) {
				return nil
			}
		case errors.Is(err, smux.ErrInvalidProtocol):
			return errGarbled
		case time.Since(last) > maxSilence:
			return fmt.Errorf("nothing received for %v", time.Since(last).Round(time.Second))
		default:
			l.recordSilence(err)
		}
		next.Reset(pingInterval)
	}
}

// recordPing records a response. renew reports whether to replace the link: its bridge is from an
// earlier release than the engine by now, and a new bridge would support more.
func (l *link) recordPing(info api.Info, rtt time.Duration) (renew bool) {
	l.update(func() {
		renew = !l.hello.Agents && info.Version != "" && info.Version != l.hello.Version
		l.state, l.fault, l.seen = api.MachineConnected, nil, time.Now()
		if info.Version != "" {
			l.hello.Version, l.hello.Protocol, l.hello.OldestProtocol = info.Version, info.Protocol, info.OldestProtocol
		}
		// A delayed response says little about the link, so slower times count for a quarter.
		if l.rtt == 0 || rtt < l.rtt {
			l.rtt = rtt
		} else {
			l.rtt += (rtt - l.rtt) / 4
		}
	})
	return renew
}

func (l *link) recordSilence(err error) {
	l.update(func() { l.state, l.fault = api.MachineAway, err })
}

// ping calls engine.info. An engine being replaced responds with an error, which counts as a
// response.
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
