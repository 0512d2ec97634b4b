package api

import "time"

// The operations on files that a person's file browser needs beside those that
// agents use. What they take is not confined.
var (
	FilesTransfer = NewOperation[FilesTransferInput, FilesTransferOutput]("files.transfer",
		"Copies files, moves them, puts them into the trash, takes them out of it, deletes them for good, packs them into an archive or extracts one, in the background.", Destructive)
	FilesJob = NewOperation[FileJobInput, FileJob]("files.job",
		"Tells how far a transfer is, or waits for news of it.", Read)
	FilesCancel = NewOperation[FileJobInput, FileJob]("files.cancel",
		"Ends a transfer; what it has finished stays.", Write)
	FilesRestore = NewOperation[FilesRestoreInput, Empty]("files.restore",
		"Takes files out of the trash and puts them back where they were.", Write)
	FilesTrashed = NewOperation[FilesTrashedInput, FilesTrashedOutput]("files.trashed",
		"Lists what is in the user's trash, what was deleted last first.", Read)
	FilesWatch = NewOperation[FilesWatchInput, FilesWatchOutput]("files.watch",
		"Waits until something in a folder changes.", Read)
	FilesGit = NewOperation[FilesGitInput, FilesGitOutput]("files.git",
		"Tells what git says of the entries of a folder.", Read)
)

// Kinds of transfer.
const (
	TransferCopy    = "copy"
	TransferMove    = "move"
	TransferTrash   = "trash"
	TransferRestore = "restore" // from a path in the trash
	TransferDelete  = "delete"  // folders with all in them; of the trash with what is recorded of them
	TransferExtract = "extract" // an archive into a folder of that path, or a compressed file into a file
	TransferPack    = "pack"    // all items into one archive, of the kind that its name tells: .zip, .tar, .tar.gz or .tgz
)

// What a transfer does where something is in the way.
const (
	ConflictSkip    = "skip"
	ConflictReplace = "replace" // what is there goes to the trash
	ConflictKeep    = "keep"    // both: the new one gets a number
)

// A FileMove says what goes where.
type FileMove struct {
	Path string `json:"path" jsonschema:"what to transfer"`
	To   string `json:"to,omitempty" jsonschema:"its new path, not the folder that it goes into; not for trash and delete"`
}

// FilesTransferInput is the input of files.transfer.
type FilesTransferInput struct {
	FileScope
	Kind     string     `json:"kind" jsonschema:"copy, move, trash, restore (what is in the trash), delete (for good, folders with all in them), extract (zip, tar, also compressed with gzip or bzip2, and single files so compressed) or pack (all items into the same path: .zip, .tar, .tar.gz or .tgz)"`
	Items    []FileMove `json:"items" jsonschema:"in this order"`
	Conflict string     `json:"conflict,omitempty" jsonschema:"where something is in the way: skip, replace (what is there goes to the trash) or keep (both); without it nothing begins"`
	Large    bool       `json:"large,omitempty" jsonschema:"extract only: whatever it unpacks to; else it fails above a gigabyte or twenty times the archive, whichever is more, and above 100,000 files"`
}

// FilesTransferOutput is the output of files.transfer.
type FilesTransferOutput struct {
	Job       string   `json:"job,omitempty" jsonschema:"id of the transfer that has begun"`
	Conflicts []string `json:"conflicts,omitempty" jsonschema:"what is in the way; nothing has begun then"`
}

// FileJobInput names a transfer.
type FileJobInput struct {
	FileScope
	ID     string `json:"id" jsonschema:"of the transfer"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"wait so long for it to end, in milliseconds"`
}

// States of a FileJob.
const (
	JobRunning   = "running"
	JobDone      = "done"
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// A FileJob is a transfer. It is remembered for ten minutes after its end.
type FileJob struct {
	ID      string      `json:"id" jsonschema:"of the transfer"`
	Kind    string      `json:"kind" jsonschema:"copy, move, trash, restore, delete, extract or pack"`
	State   string      `json:"state" jsonschema:"running, done, failed or cancelled"`
	Bytes   int64       `json:"bytes" jsonschema:"copied or packed so far; of an archive that is extracted, read"`
	Total   int64       `json:"total" jsonschema:"bytes in all; 0 while they are being counted"`
	Current string      `json:"current,omitempty" jsonschema:"what is being transferred"`
	Handled int         `json:"handled" jsonschema:"items that are finished or were left out"`
	Done    []FileMoved `json:"done,omitempty" jsonschema:"what is finished"`
	Skipped int         `json:"skipped,omitempty" jsonschema:"items that something was in the way of"`
	Error   string      `json:"error,omitempty" jsonschema:"why it failed"`
	Large   bool        `json:"large,omitempty" jsonschema:"it failed because it unpacks to more than is allowed without large"`
}

// A FileMoved is an item of a transfer that is finished.
type FileMoved struct {
	Path     string `json:"path" jsonschema:"what was transferred"`
	To       string `json:"to" jsonschema:"where it is now; of the trash the path in it; empty for what was deleted"`
	Replaced string `json:"replaced,omitempty" jsonschema:"where in the trash is what was in its place"`
}

// FilesRestoreInput is the input of files.restore.
type FilesRestoreInput struct {
	FileScope
	Items []FileMove `json:"items" jsonschema:"path in the trash, and where it goes"`
}

// FilesTrashedInput is the input of files.trashed.
type FilesTrashedInput struct {
	FileScope
}

// FilesTrashedOutput is the output of files.trashed.
type FilesTrashedOutput struct {
	Items []TrashedFile `json:"items" jsonschema:"what was deleted last first"`
}

// A TrashedFile is something in the trash.
type TrashedFile struct {
	Path    string    `json:"path" jsonschema:"in the trash"`
	From    string    `json:"from,omitempty" jsonschema:"where it was; missing if that is not recorded"`
	Deleted time.Time `json:"deleted,omitzero" jsonschema:"when it was deleted"`
	Type    string    `json:"type" jsonschema:"file, dir, link, fifo, socket or device"`
	Size    int64     `json:"size" jsonschema:"bytes of a file"`
}

// FilesWatchInput is the input of files.watch.
type FilesWatchInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"a folder"`
	Seen   string `json:"seen,omitempty" jsonschema:"stamp of the last answer; if the folder has another one, the answer comes at once"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"how long to wait, in milliseconds; default 20 s"`
}

// FilesWatchOutput is the output of files.watch.
type FilesWatchOutput struct {
	Stamp   string `json:"stamp" jsonschema:"stands for what the folder is now"`
	Changed bool   `json:"changed" jsonschema:"something has changed"`
}

// FilesGitInput is the input of files.git.
type FilesGitInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Branch bool   `json:"branch,omitempty" jsonschema:"only the branch: no file is looked at"`
}

// FilesGitOutput is the output of files.git.
type FilesGitOutput struct {
	Branch string            `json:"branch,omitempty" jsonschema:"the branch, or the commit where there is none; empty outside a repository"`
	Marks  map[string]string `json:"marks,omitempty" jsonschema:"of entries by name: the two letters of git status, of a folder those of what is in it"`
	All    string            `json:"all,omitempty" jsonschema:"the letters of every entry that marks does not name, in a folder that git does not track or ignores"`
}
