package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/base/panics"
)

// tunnel copies both ways until both directions have ended, one fails, nothing was copied for the
// idle time, or ctx ends. fromClient reads from client, starting with data already buffered.
func tunnel(ctx context.Context, idle time.Duration, client net.Conn, fromClient io.Reader, upstream net.Conn) {
	cut := sync.OnceFunc(func() {
		client.Close()
		upstream.Close()
	})
	defer cut()
	stop := context.AfterFunc(ctx, cut)
	defer stop()

	started := time.Now()
	var last atomic.Int64 // time of the last copy, since started
	carry := func(to net.Conn, from io.Reader, deadline net.Conn) {
		buffer := make([]byte, 32<<10)
		for {
			deadline.SetReadDeadline(started.Add(time.Duration(last.Load()) + idle))
			n, err := from.Read(buffer)
			if n > 0 {
				last.Store(int64(time.Since(started)))
				if _, err := to.Write(buffer[:n]); err != nil {
					cut()
					return
				}
			}
			switch {
			case err == io.EOF:
				closeWrite(to)
				return
			case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(started)-time.Duration(last.Load()) < idle:
				// The other direction was active meanwhile.
			case err != nil:
				cut()
				return
			}
		}
	}
	var both panics.Group
	both.Start(func() { carry(upstream, fromClient, client) })
	both.Start(func() { carry(client, upstream, upstream) })
	both.Wait()
}
