package api

import (
	"strings"
	"time"
)

// These are the operations on files. Each has a FileScope and rejects paths outside it with
// CodeForbidden, even if links lead there.
var (
	FilesRead = NewOperation[FilesReadInput, FilesReadOutput]("files.read",
		"Reads a text file by lines, or any file by bytes.", Read,
		Row[FilesReadInput]{Access: OnFiles, Paths: (*FilesReadInput).paths})
	FilesReadJSON = NewOperation[FilesReadJSONInput, FilesReadJSONOutput]("files.read_json",
		"Reads a JSON file.", Read,
		Row[FilesReadJSONInput]{Access: OnFiles, Paths: (*FilesPathInput).paths})
	FilesWrite = NewOperation[FilesWriteInput, FilesWriteOutput]("files.write",
		"Writes or appends to a file atomically.", Destructive,
		Row[FilesWriteInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesWriteInput).paths})
	FilesEdit = NewOperation[FilesEditInput, FilesEditOutput]("files.edit",
		"Replaces exact text in a file: makes all edits or none.", Destructive,
		Row[FilesEditInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesEditInput).paths})
	FilesReport = NewOperation[FilesWriteOutputInput, FilesWriteOutput]("files.write_output",
		"Writes a report to a new file with the date in its name.", Write,
		Row[FilesWriteOutputInput]{Access: OnFiles, Repeat: RepeatNever, Subject: (*FilesWriteOutputInput).subject})
	FilesList = NewOperation[FilesListInput, FilesListOutput]("files.list",
		"Lists a folder.", Read,
		Row[FilesListInput]{Access: OnFiles, Paths: (*FilesListInput).paths})
	FilesStat = NewOperation[FilesPathInput, FileInfo]("files.stat",
		"Describes a file, or a link itself instead of its target.", Read,
		Row[FilesPathInput]{Access: OnFiles, Paths: (*FilesPathInput).paths})
	FilesMkdir = NewOperation[FilesMkdirInput, FileInfo]("files.mkdir",
		"Creates a folder.", Write,
		Row[FilesMkdirInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesMkdirInput).paths})
	FilesDelete = NewOperation[FilesDeleteInput, Empty]("files.delete",
		"Deletes a file or folder.", Destructive,
		Row[FilesDeleteInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesDeleteInput).paths})
	FilesMove = NewOperation[FilesMoveInput, FileInfo]("files.move",
		"Moves or renames a file or folder.", Destructive,
		Row[FilesMoveInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesMoveInput).paths})
	FilesCopy = NewOperation[FilesMoveInput, FileInfo]("files.copy",
		"Copies a file or folder.", Write,
		Row[FilesMoveInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesMoveInput).paths})
	FilesSet = NewOperation[FilesSetInput, FileInfo]("files.set",
		"Sets the permissions and the time of a file or folder, or creates a symbolic link.", Write,
		Row[FilesSetInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*FilesSetInput).paths})
	FilesFind = NewOperation[FilesFindInput, FilesFindOutput]("files.find",
		"Finds files by name pattern, except those ignored by git.", Read,
		Row[FilesFindInput]{Access: OnFiles, Paths: (*FilesFindInput).paths})
	FilesGrep = NewOperation[FilesGrepInput, FilesGrepOutput]("files.grep",
		"Searches the contents of files, except those ignored by git.", Read,
		Row[FilesGrepInput]{Access: OnFiles, Paths: (*FilesGrepInput).paths})
)

// A FileScope limits the paths of a file operation, and sets the base for relative ones. "~/"
// stands for the home directory. The zero value limits nothing.
type FileScope struct {
	Roots []string `json:"roots,omitempty" jsonschema:"absolute paths of the folders to which the call is confined; if empty, it is not confined" audit:"-"`
	Base  string   `json:"base,omitempty" jsonschema:"absolute path of the folder that relative paths start from; default: the first root, or else the home folder"`
	// With RootID, several calls reach the same folder. If someone replaces the folder in between,
	// they fail.
	RootID string `json:"root_id,omitempty" jsonschema:"id of the folder that is the only root; the call is rejected if another folder is there now" audit:"-"`
	// Escaped lets a client reach files whose names are not UTF-8. JSON cannot contain such names.
	Escaped bool `json:"escaped,omitempty" jsonschema:"names and paths in input and output have %XX for each byte of invalid UTF-8, and for %"`
	// The caller must set Machines, because a folder of this machine may be called "box:" as well.
	Machines bool `json:"machines,omitempty" jsonschema:"paths may be on another machine, and then begin with /MACHINE:, as in /box:/etc/hosts"`
}

// FilesPathInput names a file.
type FilesPathInput struct {
	FileScope
	Path string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
}

// FilesReadInput is the input of files.read.
type FilesReadInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Offset    int64  `json:"offset,omitempty" jsonschema:"first line, from 1, or, if \"bytes\" is set, first byte, from 0"`
	Limit     int64  `json:"limit,omitempty" jsonschema:"maximum number of lines, default 2000, or, if \"bytes\" is set, of bytes, default 1 MiB, at most 16 MiB"`
	Bytes     bool   `json:"bytes,omitempty" jsonschema:"read bytes instead of lines; works for any file"`
	Unbounded bool   `json:"unbounded,omitempty" jsonschema:"lift the limit of 2000 lines and 50 KB when reading lines"`
}

// FilesReadOutput is the output of files.read. Lines are complete and include their line ends.
type FilesReadOutput struct {
	Path       string `json:"path" jsonschema:"absolute path"`
	Kind       string `json:"kind" jsonschema:"text, image or binary, by content"`
	MIME       string `json:"mime,omitempty" jsonschema:"media type of an image"`
	Size       int64  `json:"size" jsonschema:"size of the whole file in bytes"`
	Text       string `json:"text,omitempty" jsonschema:"the lines, or the bytes if they are UTF-8"`
	Data       []byte `json:"data,omitempty" jsonschema:"a whole image, or bytes that are not UTF-8, in base64"`
	FirstLine  int64  `json:"first_line,omitempty" jsonschema:"number of the first line returned"`
	LastLine   int64  `json:"last_line,omitempty" jsonschema:"number of the last line returned"`
	TotalLines int64  `json:"total_lines,omitempty" jsonschema:"lines of the file"`
	ReadBytes  int64  `json:"read_bytes" jsonschema:"bytes of the file returned"`
	Cut        string `json:"cut,omitempty" jsonschema:"why the output ends early: limit (the caller's), lines, bytes, or line (the first line alone exceeds the limit)"`
	LineBytes  int64  `json:"line_bytes,omitempty" jsonschema:"length of the first line in bytes, if \"cut\" is line"`
}

func (o *FilesReadOutput) Bulk() []Member {
	return []Member{
		{Name: "text", Text: &o.Text},
		{Name: "data", Data: &o.Data},
	}
}

// FilesReadJSONInput is the input of files.read_json.
type FilesReadJSONInput = FilesPathInput

// FilesReadJSONOutput is the output of files.read_json.
type FilesReadJSONOutput struct {
	Path  string `json:"path" jsonschema:"absolute path"`
	Value any    `json:"value" jsonschema:"decoded contents of the file"`
}

// FilesWriteInput is the input of files.write. Missing parent folders are created.
type FilesWriteInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Text   string `json:"text,omitempty" jsonschema:"the content"`
	Data   []byte `json:"data,omitempty" jsonschema:"the content in base64, instead of \"text\""`
	Append bool   `json:"append,omitempty" jsonschema:"append to the existing file"`
	At     *int64 `json:"at,omitempty" jsonschema:"expected size of the file in bytes, if \"append\" is set; a different size is a conflict"`
	New    bool   `json:"new,omitempty" jsonschema:"fail with conflict if the file exists"`
}

// FilesWriteOutput is the output of files.write and files.write_output.
type FilesWriteOutput struct {
	Path     string `json:"path" jsonschema:"absolute path"`
	Written  int64  `json:"written" jsonschema:"bytes written by this call"`
	Size     int64  `json:"size" jsonschema:"size of the file after this call, in bytes"`
	Replaced bool   `json:"replaced,omitempty" jsonschema:"a file existed before"`
}

// A FileEdit replaces one text by another in a file.
type FileEdit struct {
	Search     string `json:"search" jsonschema:"exact text; its line endings may differ from those of the file"`
	Replace    string `json:"replace" jsonschema:"replacement text"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence; otherwise there must be exactly one"`
}

// FilesEditInput is the input of files.edit. Each edit is applied to the result of the previous
// one.
type FilesEditInput struct {
	FileScope
	Path  string     `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Edits []FileEdit `json:"edits" jsonschema:"replacements to make, in order"`
}

// FilesEditOutput is the output of files.edit.
type FilesEditOutput struct {
	Path         string `json:"path" jsonschema:"absolute path"`
	Replacements []int  `json:"replacements" jsonschema:"number of replacements per edit"`
}

// FilesWriteOutputInput is the input of files.write_output. The file is
// ~/outputs/YYYYMMDDHHMMSS-NAME.md or .json, with -1, -2, … added if it exists.
type FilesWriteOutputInput struct {
	Name    string `json:"name" jsonschema:"name of the report, without folder and extension"`
	Content string `json:"content" jsonschema:"the report"`
	Format  string `json:"format,omitempty" jsonschema:"markdown or json; default markdown"`
}

// A FileInfo describes one file.
type FileInfo struct {
	Name     string    `json:"name" jsonschema:"last part of its path; exact if it is UTF-8"`
	Path     string    `json:"path,omitempty" jsonschema:"absolute path; not in listings"`
	Type     string    `json:"type" jsonschema:"file, dir, link, fifo, socket or device"`
	Target   string    `json:"target,omitempty" jsonschema:"target of a link, as written in the link"`
	ToDir    bool      `json:"to_dir,omitempty" jsonschema:"it is a link to a folder"`
	ToFile   bool      `json:"to_file,omitempty" jsonschema:"it is a link to a file"`
	Broken   bool      `json:"broken,omitempty" jsonschema:"it is a broken link"`
	Size     int64     `json:"size" jsonschema:"size in bytes"`
	Mode     string    `json:"mode" jsonschema:"permission bits in octal, for example 0644"`
	Modified time.Time `json:"modified" jsonschema:"time of the last change of the content"`
	Accessed time.Time `json:"accessed" jsonschema:"time of the last read"`
	ID       string    `json:"id,omitempty" jsonschema:"identifies a folder, or the one that a link leads to, for \"root_id\"; not in listings"`
	Owner    string    `json:"owner,omitempty" jsonschema:"user name or number; stat only"`
	Group    string    `json:"group,omitempty" jsonschema:"group name or number; stat only"`
}

// IsFolder reports whether an entry is a folder or a link to one.
func (f *FileInfo) IsFolder() bool { return f.Type == "dir" || f.ToDir }

// IsExecutable reports whether any user may execute a file.
func (f *FileInfo) IsExecutable() bool {
	return f.Type == "file" && len(f.Mode) >= 3 && strings.ContainsAny(f.Mode[len(f.Mode)-3:], "1357")
}

// FilesListInput is the input of files.list.
type FilesListInput struct {
	FileScope
	Path   string `json:"path,omitempty" jsonschema:"folder to list; default \"base\""`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"include names starting with a dot"`
	Match  string `json:"match,omitempty" jsonschema:"only names containing these words, ignoring case; !word: not containing it. Plain text, not escaped"`
	After  string `json:"after,omitempty" jsonschema:"only names after this one, to continue a listing"`
	Limit  int    `json:"limit,omitempty" jsonschema:"maximum number of entries; default all"`
}

// FilesListOutput is the output of files.list.
type FilesListOutput struct {
	Path    string     `json:"path" jsonschema:"absolute path"`
	Entries []FileInfo `json:"entries" jsonschema:"sorted by name, byte by byte"`
	Omitted int        `json:"omitted,omitempty" jsonschema:"number of entries beyond the limit; continue with \"after\""`
}

// FilesMkdirInput is the input of files.mkdir.
type FilesMkdirInput struct {
	FileScope
	Path    string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Parents bool   `json:"parents,omitempty" jsonschema:"create missing parents too, and accept an existing folder"`
}

// FilesDeleteInput is the input of files.delete.
type FilesDeleteInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"delete a folder with its contents"`
}

// FilesMoveInput is the input of files.move and files.copy.
type FilesMoveInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"file or folder to move or copy"`
	To        string `json:"to" jsonschema:"path it gets, including its name"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file instead of failing with conflict"`
}

// FilesSetInput is the input of files.set: the metadata that a copy should keep.
type FilesSetInput struct {
	FileScope
	Path     string    `json:"path" jsonschema:"relative to \"base\", absolute, or ~/…"`
	Mode     string    `json:"mode,omitempty" jsonschema:"permission bits in octal, such as 0644; not for links"`
	Modified time.Time `json:"modified,omitzero" jsonschema:"time of the last change of the content; not for links"`
	Target   string    `json:"target,omitempty" jsonschema:"create a symbolic link with this target; \"path\" must not exist"`
}

// FilesFindInput is the input of files.find.
type FilesFindInput struct {
	FileScope
	Pattern string `json:"pattern" jsonschema:"glob: * ? [a-z] {a,b}, ** for any depth; without / it matches names, otherwise paths below \"path\""`
	Path    string `json:"path,omitempty" jsonschema:"folder to search; default \"base\""`
	Limit   int    `json:"limit,omitempty" jsonschema:"default 1000"`
}

// FilesFindOutput is the output of files.find.
type FilesFindOutput struct {
	Paths   []string `json:"paths" jsonschema:"relative to the folder searched, sorted; folders end with /"`
	Limited bool     `json:"limited,omitempty" jsonschema:"there are more results"`
}

// FilesGrepInput is the input of files.grep.
type FilesGrepInput struct {
	FileScope
	Pattern    string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path       string `json:"path,omitempty" jsonschema:"file or folder to search; default \"base\""`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files whose name or path matches this glob"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"ignore case"`
	Context    int    `json:"context,omitempty" jsonschema:"number of lines before and after each match"`
	Limit      int    `json:"limit,omitempty" jsonschema:"maximum number of matches in total; default 100"`
	MaxBytes   int64  `json:"most_bytes,omitempty" jsonschema:"skip larger files below the folder"`
}

// A GrepLine is a matching line, or a line before or after one.
type GrepLine struct {
	Path  string `json:"path" jsonschema:"relative to the folder searched"`
	Line  int64  `json:"line" jsonschema:"line number, from 1"`
	Text  string `json:"text" jsonschema:"the line, without its line ending"`
	Match bool   `json:"match" jsonschema:"false for a line of context"`
}

// FilesGrepOutput is the output of files.grep.
type FilesGrepOutput struct {
	Lines   []GrepLine `json:"lines" jsonschema:"sorted by path, then line"`
	Matches int        `json:"matches" jsonschema:"number of matching lines"`
	Limited bool       `json:"limited,omitempty" jsonschema:"there are more results"`
	Passed  int        `json:"passed,omitempty" jsonschema:"number of files skipped because they are larger than \"most_bytes\""`
	Binary  int        `json:"binary,omitempty" jsonschema:"number of binary files skipped; 1 if \"path\" itself is a binary file, whose matches are counted but not returned as lines"`
	File    bool       `json:"file,omitempty" jsonschema:"the searched path is a file; the path of each line is its name"`
}

// Scope returns s itself. The server uses it to narrow the scope of a call.
func (s *FileScope) Scope() *FileScope { return s }
