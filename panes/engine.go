package panes

import (
	"context"
	"iter"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
)

// ClientName is the dashboard's name for the engine.
const ClientName = "dashboard"

// An Engine is what the dashboard uses of its connection to the engine: API calls, events, sessions
// and files.
type Engine interface {
	api.Engine
	Watch(context.Context) iter.Seq2[api.Event, error]
	Attach(context.Context, api.AttachOptions) (Attachment, error)
	FileEngine
}

// A FileEngine has the file operations of an engine. Paths and names may hold any bytes.
type FileEngine interface {
	FileReader
	FileWriter
	FileFinder
	FileTransfers
	WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error)
	GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error)
}

// A FileReader reads folders and files.
type FileReader interface {
	// ListFiles returns at most limit entries of a folder, sorted by name, starting with the first
	// name greater than after.
	ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error)
	// MatchFiles is ListFiles for names matching words.
	MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error)
	StatFile(ctx context.Context, path string) (api.FileInfo, error)
	ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error)
}

// A FileWriter changes single files.
type FileWriter interface {
	WriteFile(ctx context.Context, path string, data []byte, onlyNew bool) error
	MakeFolder(ctx context.Context, path string) error
	DeleteFile(ctx context.Context, path string) error
}

// A FileFinder searches below a folder.
type FileFinder interface {
	FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error)
	SearchFiles(context.Context, api.FilesGrepInput) (api.FilesGrepOutput, error)
}

// FileTransfers has the operations that copy and move files, also to the trash and back.
type FileTransfers interface {
	Transfer(context.Context, api.FilesTransferInput) (api.FilesTransferOutput, error)
	TransferJob(ctx context.Context, id string, waitMS int) (api.FileJob, error)
	CancelTransfer(ctx context.Context, id string) error
	ListTrash(context.Context) ([]api.TrashedFile, error)
}

// An Attachment is an attachment to a session; see client.Attachment.
type Attachment interface {
	Receive() (api.Output, error)
	Close() error
	// SendFrom sends the inputs in initial, and from then on those queued in o. Call it before any
	// other method. It returns how much of the input sent through earlier attachments may be lost.
	SendFrom(o *outbox.Outbox, initial ...api.Input) outbox.Loss
}
