package api

// What a client says of itself with every request.
const (
	ClientHeader   = "Tandem-Client"
	VersionHeader  = "Tandem-Version"
	ProtocolHeader = "Tandem-Protocol"
	OwnerHeader    = "Tandem-Owner"
)
