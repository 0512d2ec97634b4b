package api

import "time"

// These are operations of the user's file browser, in addition to those that agents use as well.
// Their paths are not confined.
var (
	FilesTransfer = NewOperation[FilesTransferInput, FilesTransferOutput]("files.transfer",
		"Copies, moves, trashes, restores, deletes, packs or extracts files in the background.", Destructive,
		Row[FilesTransferInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesTransferInput).paths})
	FilesTransferBetween = NewOperation[FilesTransferInput, FilesTransferOutput]("files.transfer_between",
		"Copies or moves files between this machine and others, or between two others, in the background; the paths on another machine begin with /MACHINE:, as in /box:/etc/hosts.", Destructive,
		Row[FilesTransferInput]{Access: UserOnly, Repeat: RepeatNever, Paths: (*FilesTransferInput).paths})
	FilesJob = NewOperation[FileJobInput, FileJob]("files.job",
		"Reports a transfer's progress, or waits for it to end.", Read,
		Row[FileJobInput]{Access: Unrestricted, OtherID: (*FileJobInput).otherID})
	FilesCancel = NewOperation[FileJobInput, FileJob]("files.cancel",
		"Cancels a transfer; finished items stay.", Write,
		Row[FileJobInput]{Access: Unrestricted, Repeat: RepeatNever, OtherID: (*FileJobInput).otherID})
	FilesRestore = NewOperation[FilesRestoreInput, Empty]("files.restore",
		"Restores files from the trash to their original paths.", Write,
		Row[FilesRestoreInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesRestoreInput).paths})
	FilesTrashed = NewOperation[FilesTrashedInput, FilesTrashedOutput]("files.trashed",
		"Lists the user's trash, last deleted first.", Read,
		Row[FilesTrashedInput]{Access: UserOnly})
	FilesWatch = NewOperation[FilesWatchInput, FilesWatchOutput]("files.watch",
		"Waits for a change in a folder.", Read,
		Row[FilesWatchInput]{Access: OnFiles, Paths: (*FilesWatchInput).paths})
	FilesGit = NewOperation[FilesGitInput, FilesGitOutput]("files.git",
		"Reports the git status of a folder's entries.", Read,
		Row[FilesGitInput]{Access: OnFiles, Paths: (*FilesGitInput).paths})
)

// Kinds of transfer.
const (
	TransferCopy    = "copy"
	TransferMove    = "move"
	TransferTrash   = "trash"
	TransferRestore = "restore" // from a path in the trash
	TransferDelete  = "delete"  // recursive; in the trash including the metadata
	TransferExtract = "extract" // an archive into a folder at the target path, or a compressed file into a file
	TransferPack    = "pack"    // all items into one archive, its format chosen by extension: .zip, .tar, .tar.gz or .tgz
)

// These are the choices for a transfer if the target exists already.
const (
	ConflictSkip    = "skip"
	ConflictReplace = "replace" // the existing file goes to the trash
	ConflictKeep    = "keep"    // keeps both: the new one gets a number
)

// A FileMove is one item of a transfer: its path, and the new one.
type FileMove struct {
	Path string `json:"path" jsonschema:"file or folder to transfer"`
	To   string `json:"to,omitempty" jsonschema:"path it gets, including its name; not used for trash and delete"`
}

// FilesTransferInput is the input of files.transfer.
type FilesTransferInput struct {
	FileScope
	Kind     string     `json:"kind" jsonschema:"copy, move, trash, restore (from the trash), delete (permanently, folders recursively), extract (zip, tar, tar.gz, tar.bz2, or a single file compressed with gzip or bzip2) or pack (all items into the same path: .zip, .tar, .tar.gz or .tgz)"`
	Items    []FileMove `json:"items" jsonschema:"items to transfer, in order"`
	Conflict string     `json:"conflict,omitempty" jsonschema:"what to do if a target exists: skip, replace (the existing file goes to the trash) or keep (both); default: start nothing"`
	Large    bool       `json:"large,omitempty" jsonschema:"do not limit the unpacked size when extracting; by default, extracting fails above 1 GB or 20 times the archive, whichever is more, and above 100,000 files"`
}

// FilesTransferOutput is the output of files.transfer.
type FilesTransferOutput struct {
	Job       string   `json:"job,omitempty" jsonschema:"id of the started transfer"`
	Conflicts []string `json:"conflicts,omitempty" jsonschema:"targets that already exist; if there are any, nothing was started"`
}

// FileJobInput names a transfer.
type FileJobInput struct {
	FileScope
	ID     string `json:"id" jsonschema:"id of the transfer"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"milliseconds to wait for it to end"`
}

// States of a FileJob.
const (
	JobRunning   = "running"
	JobDone      = "done"
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// A FileJob is a transfer. It can be looked up until ten minutes after its end.
type FileJob struct {
	ID      string      `json:"id" jsonschema:"id of the transfer"`
	Kind    string      `json:"kind" jsonschema:"copy, move, trash, restore, delete, extract or pack"`
	State   string      `json:"state" jsonschema:"running, done, failed or cancelled"`
	Bytes   int64       `json:"bytes" jsonschema:"bytes copied or packed so far; bytes read when extracting"`
	Total   int64       `json:"total" jsonschema:"bytes in all; 0 while they are being counted"`
	Current string      `json:"current,omitempty" jsonschema:"the path being transferred"`
	Handled int         `json:"handled" jsonschema:"number of items finished or skipped"`
	Done    []FileMoved `json:"done,omitempty" jsonschema:"finished items"`
	Skipped int         `json:"skipped,omitempty" jsonschema:"number of items skipped because their target existed"`
	Error   string      `json:"error,omitempty" jsonschema:"why it failed"`
	Large   bool        `json:"large,omitempty" jsonschema:"it failed because the unpacked size exceeds the default limit; set \"large\" to lift the limit"`
}

// A FileMoved is a finished item of a transfer.
type FileMoved struct {
	Path     string `json:"path" jsonschema:"its old path"`
	To       string `json:"to" jsonschema:"its new path, in the trash if trashed; empty if deleted"`
	Replaced string `json:"replaced,omitempty" jsonschema:"path in the trash of the file it replaced"`
}

// FilesRestoreInput is the input of files.restore.
type FilesRestoreInput struct {
	FileScope
	Items []FileMove `json:"items" jsonschema:"paths in the trash, and their new paths"`
}

// FilesTrashedInput is the input of files.trashed.
type FilesTrashedInput struct {
	FileScope
}

// FilesTrashedOutput is the output of files.trashed.
type FilesTrashedOutput struct {
	Items []TrashedFile `json:"items" jsonschema:"the files in the trash, last deleted first"`
}

// A TrashedFile is a file or folder in the trash.
type TrashedFile struct {
	Path    string    `json:"path" jsonschema:"path in the trash"`
	From    string    `json:"from,omitempty" jsonschema:"its original path; missing if not recorded"`
	Deleted time.Time `json:"deleted,omitzero" jsonschema:"when it was deleted"`
	Type    string    `json:"type" jsonschema:"file, dir, link, fifo, socket or device"`
	Size    int64     `json:"size" jsonschema:"size of a file in bytes"`
}

// FilesWatchInput is the input of files.watch.
type FilesWatchInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"folder to watch"`
	Seen   string `json:"seen,omitempty" jsonschema:"stamp of the last answer; if the folder's stamp differs, the call returns at once"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"how long to wait, in milliseconds; default 20 s"`
}

// FilesWatchOutput is the output of files.watch.
type FilesWatchOutput struct {
	Stamp   string `json:"stamp" jsonschema:"identifies the folder's present state"`
	Changed bool   `json:"changed" jsonschema:"something has changed"`
}

// FilesGitInput is the input of files.git.
type FilesGitInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Branch bool   `json:"branch,omitempty" jsonschema:"report only the branch, without the status of files"`
}

// FilesGitOutput is the output of files.git.
type FilesGitOutput struct {
	Branch string            `json:"branch,omitempty" jsonschema:"the branch, or the commit if no branch is checked out; empty outside a repository"`
	Marks  map[string]string `json:"marks,omitempty" jsonschema:"the two letters of git status, by name of the entry; for a folder, the letters of its contents"`
	All    string            `json:"all,omitempty" jsonschema:"the letters of all other entries, in an untracked or ignored folder"`
}
