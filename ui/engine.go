package ui

import (
	"context"
	"iter"

	"tandem/engine/api"
	"tandem/panes"
)

// An engine is what the dashboard asks of the engine's API.
type engine interface {
	Watch(context.Context) iter.Seq2[api.Event, error]
	Attach(context.Context, api.AttachOptions) (viewer, error)
	Start(context.Context, api.SessionStartInput) (api.Process, error)
	Rename(ctx context.Context, id, name string) (api.Process, error)
	Keyboard(context.Context, api.SessionKeyboardInput) (api.Process, error)
	Kill(ctx context.Context, id string) (api.Process, error)
	Remove(ctx context.Context, id string) error

	Measure(context.Context) ([]api.Process, error) // all processes, with metrics
	Log(context.Context, api.ProcessLogInput) (api.ProcessLogOutput, error)
	StartProcess(context.Context, api.ProcessStartInput) (api.Process, error)
	StopProcess(context.Context, api.ProcessStopInput) error
	Restart(ctx context.Context, id string) error
	Signal(context.Context, api.ProcessSignalInput) error
	UpdateProcess(context.Context, api.ProcessUpdateInput) error

	Answer(context.Context, api.RequestAnswerInput) error

	Layouts(context.Context) ([]api.SavedLayout, error)
	PutLayout(context.Context, api.LayoutPutInput) (revision int64, err error)
	RemoveLayout(ctx context.Context, name string) error

	fileEngine

	Find(context.Context, api.SessionFindInput) (api.SessionFindOutput, error)
	Text(context.Context, api.SessionTextInput) (api.SessionTextOutput, error)
	Stat(ctx context.Context, path string) (api.FileInfo, error)

	SearchHistory(context.Context, api.HistorySearchInput) (api.HistorySearchOutput, error)
	RemoveHistory(context.Context, api.HistoryRemoveInput) (api.HistoryCount, error)
	SaveHistory(context.Context, api.HistorySaveInput) (api.HistoryCount, error)
	LoadHistory(context.Context, api.HistoryLoadInput) (api.HistoryCount, error)
}

// A viewer is an attachment to one session.
type viewer interface {
	panes.Viewer
	Receive() (api.Output, error)
	Close() error
	Inherit(from viewer) // see api.Attachment
}

// attachment is a viewer behind an API client.
type attachment struct{ *api.Attachment }

func (a attachment) Inherit(from viewer) {
	if lost, ok := from.(attachment); ok {
		a.Attachment.Inherit(lost.Attachment)
	}
}

// client is the engine behind an API client.
type client struct{ api *api.Client }

func (c client) Watch(ctx context.Context) iter.Seq2[api.Event, error] { return c.api.Watch(ctx) }

func (c client) Attach(ctx context.Context, o api.AttachOptions) (viewer, error) {
	a, err := c.api.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	return attachment{a}, nil
}

func (c client) Start(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	return api.SessionStart.Call(ctx, c.api, in)
}

func (c client) Rename(ctx context.Context, id, name string) (api.Process, error) {
	return api.SessionRename.Call(ctx, c.api, api.SessionRenameInput{ID: id, Name: name})
}

func (c client) Keyboard(ctx context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	return api.SessionKeyboard.Call(ctx, c.api, in)
}

func (c client) Kill(ctx context.Context, id string) (api.Process, error) {
	return api.SessionKill.Call(ctx, c.api, api.IDInput{ID: id})
}

func (c client) Remove(ctx context.Context, id string) error {
	_, err := api.ProcessRemove.Call(ctx, c.api, api.IDInput{ID: id})
	return err
}

func (c client) Measure(ctx context.Context) ([]api.Process, error) {
	out, err := api.ProcessList.Call(ctx, c.api, api.ProcessListInput{Metrics: true})
	return out.Processes, err
}

func (c client) Log(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	return api.ProcessLog.Call(ctx, c.api, in)
}

func (c client) StartProcess(ctx context.Context, in api.ProcessStartInput) (api.Process, error) {
	return api.ProcessStart.Call(ctx, c.api, in)
}

func (c client) StopProcess(ctx context.Context, in api.ProcessStopInput) error {
	_, err := api.ProcessStop.Call(ctx, c.api, in)
	return err
}

func (c client) Restart(ctx context.Context, id string) error {
	_, err := api.ProcessRestart.Call(ctx, c.api, api.IDInput{ID: id})
	return err
}

func (c client) Signal(ctx context.Context, in api.ProcessSignalInput) error {
	_, err := api.ProcessSignal.Call(ctx, c.api, in)
	return err
}

func (c client) SearchHistory(ctx context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
	return api.HistorySearch.Call(ctx, c.api, in)
}

func (c client) RemoveHistory(ctx context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	return api.HistoryRemove.Call(ctx, c.api, in)
}

func (c client) SaveHistory(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	return api.HistorySave.Call(ctx, c.api, in)
}

func (c client) LoadHistory(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	return api.HistoryLoad.Call(ctx, c.api, in)
}

func (c client) Answer(ctx context.Context, in api.RequestAnswerInput) error {
	_, err := api.RequestAnswer.Call(ctx, c.api, in)
	return err
}

func (c client) Layouts(ctx context.Context) ([]api.SavedLayout, error) {
	out, err := api.LayoutGet.Call(ctx, c.api, api.Empty{})
	return out.Saved, err
}

func (c client) PutLayout(ctx context.Context, in api.LayoutPutInput) (revision int64, err error) {
	out, err := api.LayoutPut.Call(ctx, c.api, in)
	return out.Revision, err
}

func (c client) RemoveLayout(ctx context.Context, name string) error {
	_, err := api.LayoutRemove.Call(ctx, c.api, api.LayoutRemoveInput{Name: name})
	return err
}

func (c client) Find(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	return api.SessionFind.Call(ctx, c.api, in)
}

func (c client) Text(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	return api.SessionText.Call(ctx, c.api, in)
}

func (c client) Stat(ctx context.Context, path string) (api.FileInfo, error) {
	return api.FilesStat.Call(ctx, c.api, api.FilesPathInput{Path: path})
}

func (c client) UpdateProcess(ctx context.Context, in api.ProcessUpdateInput) error {
	_, err := api.ProcessUpdate.Call(ctx, c.api, in)
	return err
}
