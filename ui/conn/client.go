package conn

import (
	"context"
	"iter"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/panes"
)

// attachment is one behind an API client.
type attachment struct{ *client.Attachment }

func (a attachment) Inherit(from panes.Attachment) {
	if lost, ok := from.(attachment); ok {
		a.Attachment.Inherit(lost.Attachment)
	}
}

// Client is the engine behind a client of its API.
type Client struct{ API *client.Client }

func (c Client) Watch(ctx context.Context) iter.Seq2[api.Event, error] { return c.API.Watch(ctx) }

func (c Client) Attach(ctx context.Context, o api.AttachOptions) (panes.Attachment, error) {
	a, err := c.API.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	return attachment{a}, nil
}

func (c Client) Start(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	return api.SessionStart.Call(ctx, c.API, in)
}

func (c Client) Rename(ctx context.Context, id, name string) (api.Process, error) {
	return api.SessionRename.Call(ctx, c.API, api.SessionRenameInput{ID: id, Name: name})
}

func (c Client) Keyboard(ctx context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	return api.SessionKeyboard.Call(ctx, c.API, in)
}

func (c Client) Kill(ctx context.Context, id string) (api.Process, error) {
	return api.SessionKill.Call(ctx, c.API, api.IDInput{ID: id})
}

func (c Client) Remove(ctx context.Context, id string) error {
	_, err := api.ProcessRemove.Call(ctx, c.API, api.IDInput{ID: id})
	return err
}

func (c Client) Measure(ctx context.Context) ([]api.Process, error) {
	out, err := api.ProcessList.Call(ctx, c.API, api.ProcessListInput{Metrics: true})
	return out.Processes, err
}

func (c Client) Log(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	return api.ProcessLog.Call(ctx, c.API, in)
}

func (c Client) StartProcess(ctx context.Context, in api.ProcessStartInput) (api.Process, error) {
	return api.ProcessStart.Call(ctx, c.API, in)
}

func (c Client) StopProcess(ctx context.Context, in api.ProcessStopInput) error {
	_, err := api.ProcessStop.Call(ctx, c.API, in)
	return err
}

func (c Client) Restart(ctx context.Context, id string) error {
	_, err := api.ProcessRestart.Call(ctx, c.API, api.IDInput{ID: id})
	return err
}

func (c Client) Signal(ctx context.Context, in api.ProcessSignalInput) error {
	_, err := api.ProcessSignal.Call(ctx, c.API, in)
	return err
}

func (c Client) SearchHistory(ctx context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
	return api.HistorySearch.Call(ctx, c.API, in)
}

func (c Client) RemoveHistory(ctx context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	return api.HistoryRemove.Call(ctx, c.API, in)
}

func (c Client) SaveHistory(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	return api.HistorySave.Call(ctx, c.API, in)
}

func (c Client) LoadHistory(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	return api.HistoryLoad.Call(ctx, c.API, in)
}

func (c Client) Answer(ctx context.Context, in api.RequestAnswerInput) error {
	_, err := api.RequestAnswer.Call(ctx, c.API, in)
	return err
}

func (c Client) Layouts(ctx context.Context) ([]api.SavedLayout, error) {
	out, err := api.LayoutGet.Call(ctx, c.API, api.Empty{})
	return out.Saved, err
}

func (c Client) PutLayout(ctx context.Context, in api.LayoutPutInput) (revision int64, err error) {
	out, err := api.LayoutPut.Call(ctx, c.API, in)
	return out.Revision, err
}

func (c Client) RemoveLayout(ctx context.Context, name string) error {
	_, err := api.LayoutRemove.Call(ctx, c.API, api.LayoutRemoveInput{Name: name})
	return err
}

func (c Client) Find(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	return api.SessionFind.Call(ctx, c.API, in)
}

func (c Client) Text(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	return api.SessionText.Call(ctx, c.API, in)
}

func (c Client) Stat(ctx context.Context, path string) (api.FileInfo, error) {
	return api.FilesStat.Call(ctx, c.API, api.FilesPathInput{Path: path})
}

func (c Client) UpdateProcess(ctx context.Context, in api.ProcessUpdateInput) error {
	_, err := api.ProcessUpdate.Call(ctx, c.API, in)
	return err
}
