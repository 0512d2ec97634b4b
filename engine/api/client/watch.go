package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

const maxEventBytes = 64 << 20

func watchQuery(in api.WatchInput) string {
	query := url.Values{}
	if in.Lasting {
		query.Set("lasting", "true")
	}
	if in.Machines {
		query.Set("machines", "true")
	}
	return "?" + query.Encode()
}

// Watch streams events, beginning with a snapshot, until ctx is done or the engine exits. The last
// pair has the error, which wraps ctx.Err() or is an *api.Error. The engine disconnects a reader
// that is far too slow. After CodeUnavailable, call Watch again for a new snapshot.
func (c *Client) Watch(ctx context.Context) iter.Seq2[api.Event, error] {
	return c.WatchFor(ctx, api.WatchInput{})
}

// WatchFor is like Watch, but streams only the events selected by in.
func (c *Client) WatchFor(ctx context.Context, in api.WatchInput) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		body, err := c.openEvents(ctx, in)
		if err != nil {
			yield(api.Event{}, err)
			return
		}
		defer body.Close()
		for e, err := range readEvents(body) {
			var final *api.Error
			if err != nil && (ctx.Err() != nil || !errors.As(err, &final)) {
				err = c.lostError(ctx, wire.WatchName, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (c *Client) openEvents(ctx context.Context, in api.WatchInput) (io.ReadCloser, error) {
	req, err := c.newRequest(ctx, http.MethodGet, wire.WatchName+watchQuery(in), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.lostError(ctx, wire.WatchName, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, c.nameMachine(wire.DecodeError(wire.WatchName, resp.StatusCode, text))
	}
	return resp.Body, nil
}

// readEvents decodes a stream of events. The last pair it yields has the error.
func readEvents(r io.Reader) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		blocks := bufio.NewScanner(r)
		blocks.Buffer(nil, maxEventBytes)
		blocks.Split(splitBlocks)
		for blocks.Scan() {
			block, failed := bytes.CutPrefix(blocks.Bytes(), wire.ErrorField)
			data, ok := bytes.CutPrefix(block, wire.DataField)
			if !ok {
				continue // a comment, or an event of a newer engine
			}
			e, err := decodeEvent(data, failed)
			if !yield(e, err) || err != nil {
				return
			}
		}
		err := blocks.Err()
		if err == nil {
			err = api.Errorf(api.CodeUnavailable, "watch events: the engine ended the stream").WithHint(wire.HintAgain)
		}
		yield(api.Event{}, err)
	}
}

// splitBlocks is a bufio.SplitFunc for blocks that end with an empty line. It drops a block
// truncated by the end of the stream, as the standard requires.
func splitBlocks(data []byte, _ bool) (advance int, block []byte, err error) {
	i := bytes.Index(data, wire.BlockEnd)
	if i < 0 {
		return 0, nil, nil
	}
	return i + len(wire.BlockEnd), data[:i], nil
}

func decodeEvent(data []byte, failed bool) (api.Event, error) {
	if failed {
		return api.Event{}, wire.DecodeError(wire.WatchName, http.StatusOK, data)
	}
	var e api.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return api.Event{}, api.Errorf(api.CodeInternal, "watch events: decode event: %v", err)
	}
	return e, nil
}
