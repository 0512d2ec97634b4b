package api

import "time"

// The operations on files. Each takes a FileScope; what lies outside it is
// refused with CodeForbidden, whatever links or names lead there.
var (
	FilesRead = NewOperation[FilesReadInput, FilesReadOutput]("files.read",
		"Reads a text file by lines, or any file by bytes.", Read)
	FilesReadJSON = NewOperation[FilesReadJSONInput, FilesReadJSONOutput]("files.read_json",
		"Reads a JSON file.", Read)
	FilesWrite = NewOperation[FilesWriteInput, FilesWriteOutput]("files.write",
		"Writes or appends to a file, at once or not at all.", Destructive)
	FilesEdit = NewOperation[FilesEditInput, FilesEditOutput]("files.edit",
		"Replaces exact text in a file, all edits or none.", Destructive)
	FilesReport = NewOperation[FilesWriteOutputInput, FilesWriteOutput]("files.write_output",
		"Writes a report to a new file with the date in its name.", Write)
	FilesList = NewOperation[FilesListInput, FilesListOutput]("files.list",
		"Lists a folder.", Read)
	FilesStat = NewOperation[FilesPathInput, FileInfo]("files.stat",
		"Tells about a file; of a link, the link itself.", Read)
	FilesMkdir = NewOperation[FilesMkdirInput, FileInfo]("files.mkdir",
		"Makes a folder.", Write)
	FilesDelete = NewOperation[FilesDeleteInput, Empty]("files.delete",
		"Deletes a file or folder.", Destructive)
	FilesMove = NewOperation[FilesMoveInput, FileInfo]("files.move",
		"Moves or renames a file or folder.", Destructive)
	FilesCopy = NewOperation[FilesMoveInput, FileInfo]("files.copy",
		"Copies a file or folder.", Write)
	FilesSet = NewOperation[FilesSetInput, FileInfo]("files.set",
		"Sets the permissions and the time of a file or folder, or makes a symbolic link.", Write)
	FilesFind = NewOperation[FilesFindInput, FilesFindOutput]("files.find",
		"Finds files by a pattern for their names, and leaves out what git ignores.", Read)
	FilesGrep = NewOperation[FilesGrepInput, FilesGrepOutput]("files.grep",
		"Searches the contents of files, and leaves out what git ignores.", Read)
)

// A FileScope says where a call on files may reach and where relative paths
// begin. "~/" stands for the home folder.
type FileScope struct {
	Roots []string `json:"roots,omitempty" jsonschema:"absolute folders that the call is confined to; none: not confined"`
	Base  string   `json:"base,omitempty" jsonschema:"absolute folder that relative paths begin in; default the first root, else the home folder"`
	// Escaped lets a client reach files whose names are not UTF-8, which JSON cannot carry.
	Escaped bool `json:"escaped,omitempty" jsonschema:"names and paths have %XX for each byte that is not UTF-8, and for %, both ways"`
}

// FilesPathInput names a file.
type FilesPathInput struct {
	FileScope
	Path string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
}

// FilesReadInput is the input of files.read. With bytes it reads bytes, else lines.
type FilesReadInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Offset    int64  `json:"offset,omitempty" jsonschema:"first line, from 1; with bytes the first byte, from 0"`
	Limit     int64  `json:"limit,omitempty" jsonschema:"lines, or bytes, at most; default 2000 lines, or 1 MiB; at most 16 MiB"`
	Bytes     bool   `json:"bytes,omitempty" jsonschema:"read bytes, of any file"`
	Unbounded bool   `json:"unbounded,omitempty" jsonschema:"lines only: no bound of 2000 lines and 50 KB"`
}

// FilesReadOutput is the output of files.read. Lines are whole, with their
// line endings.
type FilesReadOutput struct {
	Path       string `json:"path" jsonschema:"absolute"`
	Kind       string `json:"kind" jsonschema:"text, image or binary, by content"`
	MIME       string `json:"mime,omitempty" jsonschema:"of an image"`
	Size       int64  `json:"size" jsonschema:"of the whole file in bytes"`
	Text       string `json:"text,omitempty" jsonschema:"the lines, or the bytes if they are UTF-8"`
	Data       []byte `json:"data,omitempty" jsonschema:"base64: an image whole, or bytes that are not UTF-8"`
	FirstLine  int64  `json:"first_line,omitempty" jsonschema:"number of the first line given"`
	LastLine   int64  `json:"last_line,omitempty" jsonschema:"number of the last line given"`
	TotalLines int64  `json:"total_lines,omitempty" jsonschema:"lines of the file"`
	ReadBytes  int64  `json:"read_bytes" jsonschema:"bytes of the file that are given"`
	Cut        string `json:"cut,omitempty" jsonschema:"why not all to the end is given: limit (the caller's), lines, bytes, or line (its first line alone is over the bound)"`
	LineBytes  int64  `json:"line_bytes,omitempty" jsonschema:"with cut line: its length"`
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
	Path  string `json:"path" jsonschema:"absolute"`
	Value any    `json:"value" jsonschema:"what the file says"`
}

// FilesWriteInput is the input of files.write. Parent folders are made.
type FilesWriteInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Text   string `json:"text,omitempty" jsonschema:"the content"`
	Data   []byte `json:"data,omitempty" jsonschema:"base64: the content instead of text"`
	Append bool   `json:"append,omitempty" jsonschema:"add to the end of what is there"`
	At     *int64 `json:"at,omitempty" jsonschema:"with append: fail with conflict unless the file has this many bytes"`
	New    bool   `json:"new,omitempty" jsonschema:"fail with conflict if the file exists"`
}

// FilesWriteOutput is the output of files.write and files.write_output.
type FilesWriteOutput struct {
	Path     string `json:"path" jsonschema:"absolute"`
	Written  int64  `json:"written" jsonschema:"bytes written by this call"`
	Size     int64  `json:"size" jsonschema:"of the file now"`
	Replaced bool   `json:"replaced,omitempty" jsonschema:"there was a file before"`
}

// A FileEdit replaces text.
type FileEdit struct {
	Search     string `json:"search" jsonschema:"exact text; its line endings may differ from the file's"`
	Replace    string `json:"replace" jsonschema:"what takes its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"every occurrence; without it there must be exactly one"`
}

// FilesEditInput is the input of files.edit; each edit sees what those before
// it made.
type FilesEditInput struct {
	FileScope
	Path  string     `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Edits []FileEdit `json:"edits" jsonschema:"in this order"`
}

// FilesEditOutput is the output of files.edit.
type FilesEditOutput struct {
	Path         string `json:"path" jsonschema:"absolute"`
	Replacements []int  `json:"replacements" jsonschema:"how many each edit made"`
}

// FilesWriteOutputInput is the input of files.write_output: the file is
// ~/outputs/YYYYMMDDHHMMSS-NAME.md or .json, with -1, -2, … when that is taken.
type FilesWriteOutputInput struct {
	Name    string `json:"name" jsonschema:"without folder and extension"`
	Content string `json:"content" jsonschema:"the report"`
	Format  string `json:"format,omitempty" jsonschema:"markdown or json; default markdown"`
}

// A FileInfo tells about one file.
type FileInfo struct {
	Name     string    `json:"name" jsonschema:"last part of its path, exact bytes where they are UTF-8"`
	Path     string    `json:"path,omitempty" jsonschema:"absolute; not in listings"`
	Type     string    `json:"type" jsonschema:"file, dir, link, fifo, socket or device"`
	Target   string    `json:"target,omitempty" jsonschema:"of a link: where it leads, as written"`
	ToDir    bool      `json:"to_dir,omitempty" jsonschema:"a link that leads to a folder"`
	ToFile   bool      `json:"to_file,omitempty" jsonschema:"a link that leads to a file"`
	Broken   bool      `json:"broken,omitempty" jsonschema:"a link that leads nowhere"`
	Size     int64     `json:"size" jsonschema:"bytes"`
	Mode     string    `json:"mode" jsonschema:"permission bits in octal, 0644"`
	Modified time.Time `json:"modified" jsonschema:"of the content"`
	Accessed time.Time `json:"accessed" jsonschema:"last read"`
	Owner    string    `json:"owner,omitempty" jsonschema:"user name or number; stat only"`
	Group    string    `json:"group,omitempty" jsonschema:"group name or number; stat only"`
}

// FilesListInput is the input of files.list.
type FilesListInput struct {
	FileScope
	Path   string `json:"path,omitempty" jsonschema:"a folder; default base"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"names that begin with a dot too"`
	Match  string `json:"match,omitempty" jsonschema:"only names that hold these words, in either case; !word: that do not. It is text, not escaped"`
	After  string `json:"after,omitempty" jsonschema:"only names behind this one, to go on where another listing ended"`
	Limit  int    `json:"limit,omitempty" jsonschema:"entries at most; default all"`
}

// FilesListOutput is the output of files.list.
type FilesListOutput struct {
	Path    string     `json:"path" jsonschema:"absolute"`
	Entries []FileInfo `json:"entries" jsonschema:"sorted by name, byte by byte"`
	Omitted int        `json:"omitted,omitempty" jsonschema:"entries beyond the limit; after the last name goes on with them"`
}

// FilesMkdirInput is the input of files.mkdir.
type FilesMkdirInput struct {
	FileScope
	Path    string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Parents bool   `json:"parents,omitempty" jsonschema:"make those above it too, and be content if it exists"`
}

// FilesDeleteInput is the input of files.delete.
type FilesDeleteInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"a folder with all in it"`
}

// FilesMoveInput is the input of files.move and files.copy.
type FilesMoveInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"what to move or copy"`
	To        string `json:"to" jsonschema:"its new path, not the folder that it goes into"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file; else it is a conflict"`
}

// FilesSetInput is the input of files.set: what a copy keeps beside the content.
type FilesSetInput struct {
	FileScope
	Path     string    `json:"path" jsonschema:"relative to base, absolute, or ~/"`
	Mode     string    `json:"mode,omitempty" jsonschema:"permission bits in octal, 0644; not of a link"`
	Modified time.Time `json:"modified,omitzero" jsonschema:"of the content; not of a link"`
	Target   string    `json:"target,omitempty" jsonschema:"make a link that leads there, where nothing is yet"`
}

// FilesFindInput is the input of files.find.
type FilesFindInput struct {
	FileScope
	Pattern string `json:"pattern" jsonschema:"glob: * ? [a-z] {a,b}, ** for any depth; without / it matches names, else paths below path"`
	Path    string `json:"path,omitempty" jsonschema:"folder to search; default base"`
	Limit   int    `json:"limit,omitempty" jsonschema:"default 1000"`
}

// FilesFindOutput is the output of files.find.
type FilesFindOutput struct {
	Paths   []string `json:"paths" jsonschema:"relative to the folder searched, sorted; folders end with /"`
	Limited bool     `json:"limited,omitempty" jsonschema:"there are more"`
}

// FilesGrepInput is the input of files.grep.
type FilesGrepInput struct {
	FileScope
	Pattern    string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path       string `json:"path,omitempty" jsonschema:"file or folder to search; default base"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files whose name or path matches"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"letters match in either case"`
	Context    int    `json:"context,omitempty" jsonschema:"lines around each match"`
	Limit      int    `json:"limit,omitempty" jsonschema:"matches at most, in all; default 100"`
	MostBytes  int64  `json:"most_bytes,omitempty" jsonschema:"pass over files below the folder that are larger"`
}

// A GrepLine is a line that matches, or stands near one.
type GrepLine struct {
	Path  string `json:"path" jsonschema:"relative to the folder searched"`
	Line  int64  `json:"line" jsonschema:"from 1"`
	Text  string `json:"text" jsonschema:"without its ending"`
	Match bool   `json:"match" jsonschema:"false for a line of context"`
}

// FilesGrepOutput is the output of files.grep.
type FilesGrepOutput struct {
	Lines   []GrepLine `json:"lines" jsonschema:"sorted by path, then line"`
	Matches int        `json:"matches" jsonschema:"how many of them match"`
	Limited bool       `json:"limited,omitempty" jsonschema:"there are more"`
	Passed  int        `json:"passed,omitempty" jsonschema:"files that were passed over because they are larger than most_bytes"`
}

// Scope lets who serves a call narrow where it may reach.
func (s *FileScope) Scope() *FileScope { return s }
