package api

// EnginePeer is asked by servers of the user's own, such as the page: an agent's process must not
// use them as the user.
var EnginePeer = NewOperation[EnginePeerInput, EnginePeerOutput]("engine.peer",
	"Reports whether the other end of a TCP connection is an agent's process on this machine.", Read)

// EnginePeerInput is the input of engine.peer.
type EnginePeerInput struct {
	Client string `json:"client" jsonschema:"address of the connection's other end, as IP:port"`
	Server string `json:"server" jsonschema:"address of the server's end, as IP:port"`
}

// EnginePeerOutput is the output of engine.peer.
type EnginePeerOutput struct {
	Agent string `json:"agent,omitempty" jsonschema:"whose process it is, in words; missing for the user, other users and other machines"`
}
