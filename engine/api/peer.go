package api

// EnginePeer serves the user's own servers, such as the browser page. They must not mistake an
// agent's process for the user.
var EnginePeer = NewOperation[EnginePeerInput, EnginePeerOutput]("engine.peer",
	"Reports whether the other end of a TCP connection is an agent's process on this machine.", Read,
	Row[EnginePeerInput]{Access: UserOnly})

// EnginePeerInput is the input of engine.peer.
type EnginePeerInput struct {
	Client string `json:"client" jsonschema:"address of the connection's other end, as IP:port"`
	Server string `json:"server" jsonschema:"address of the server's end, as IP:port"`
}

// EnginePeerOutput is the output of engine.peer.
type EnginePeerOutput struct {
	Agent string `json:"agent,omitempty" jsonschema:"description of the agent; missing for the user, other users and other machines"`
}
