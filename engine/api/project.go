package api

// A ProjectEntry says which entry of which project file a process was started
// for, so that the file can be applied again and taken back.
type ProjectEntry struct {
	File    string `json:"file" jsonschema:"absolute path of the project file"`
	Name    string `json:"name" jsonschema:"name of the entry in it"`
	Digest  string `json:"digest,omitempty" jsonschema:"of what the file said about it when it was started; another one means it has changed"`
	Project string `json:"project,omitempty" jsonschema:"name of the project when it was started; empty: the folder's"`
}
