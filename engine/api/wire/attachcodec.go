package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"tandem/engine/api"
	"tandem/keys"
)

// These are the kinds of messages from a viewer. The body of Bytes and Paste is the text itself.
const (
	InputBytes  = 'b'
	InputKey    = 'k'
	inputMouse  = 'm'
	InputPaste  = 'p'
	inputFocus  = 'f'
	InputResize = 'r'
	inputLines  = 'l'
	inputPlaces = 'a'
	InputMark   = 'n'
	InputHand   = 'h'
	InputTyped  = 't'
	InputMaster = 'w'
	inputReset  = 'z'

	inputDisplay = 'd'
	inputAsk     = 'q'
)

// These are the kinds of messages from a session.
const (
	outputFrame   = 'f'
	outputBytes   = 'b'
	outputLines   = 'l'
	outputClip    = 'c'
	outputMark    = 'n'
	outputPicture = 'g'
	outputDirect  = 'd'
	outputMaster  = 'w'
	outputModes   = 'm'
	outputKeys    = 'k'
	outputDone    = 'i'
	outputEnded   = 'e' // a Process in JSON
	OutputError   = 'x' // an Error in JSON, before the engine closes the attachment
)

// isKind reports whether b can be the kind of a message. All kinds are letters.
func isKind(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }

// impliedAlt is the bit for keys.Key.Implied in the byte of the key's phase.
const impliedAlt = 0x80

const (
	// MaxPaste is the maximum size of a paste in bytes. A paste is never split, so its start and
	// end stay together.
	MaxPaste = 16 << 20
	// MaxInputMessage is the maximum size in bytes of a message to the engine, and MaxOutputMessage
	// of a message to a client.
	MaxInputMessage  = MaxPaste + 64
	MaxOutputMessage = 32 << 20
)

// AppendInput appends the message for in to dst.
func AppendInput(dst []byte, in api.Input) ([]byte, error) {
	switch {
	case in.Bytes != nil:
		return append(append(dst, InputBytes), in.Bytes...), nil
	case in.Key != nil:
		return appendKey(append(dst, InputKey), in.Key), nil
	case in.Mouse != nil:
		return appendMouse(append(dst, inputMouse), in.Mouse), nil
	case in.Paste != nil:
		return append(append(dst, InputPaste), *in.Paste...), nil
	case in.Focus != nil:
		return appendBool(append(dst, inputFocus), *in.Focus), nil
	case in.Resize != nil:
		dst = binary.AppendVarint(append(dst, InputResize), int64(in.Resize.Cols))
		return binary.AppendVarint(dst, int64(in.Resize.Rows)), nil
	case in.Lines != nil:
		dst = binary.AppendVarint(append(dst, inputLines), in.Lines.From)
		return binary.AppendVarint(dst, int64(in.Lines.Count)), nil
	case in.Anchors != nil:
		return appendPlaces(append(dst, inputPlaces), in.Anchors, 0), nil
	case in.Mark != nil:
		return binary.AppendUvarint(append(dst, InputMark), *in.Mark), nil
	case in.Display != nil:
		return appendDisplay(append(dst, inputDisplay), in.Display), nil
	case in.AskColors:
		return append(dst, inputAsk), nil
	case in.Reset:
		return append(dst, inputReset), nil
	case in.Hand != nil:
		return appendBool(appendBool(append(dst, InputHand), in.Hand.Back), in.Hand.NoClipboard), nil
	case in.Typed != nil:
		return append(append(dst, InputTyped), in.Typed...), nil
	case in.Master:
		return append(dst, InputMaster), nil
	}
	return dst, api.Errorf(api.CodeInvalid, "send input: the message has no content")
}

func appendKey(dst []byte, k *keys.Key) []byte {
	dst = appendRune(dst, rune(k.Code))
	phase := byte(k.Phase)
	if k.Implied {
		phase |= impliedAlt
	}
	dst = append(dst, byte(k.Mods), phase)
	dst = appendRune(dst, k.Shifted)
	dst = appendRune(dst, k.Base)
	return append(dst, k.Text...)
}

func appendMouse(dst []byte, m *keys.Mouse) []byte {
	dst = binary.AppendVarint(dst, int64(m.X))
	dst = binary.AppendVarint(dst, int64(m.Y))
	return append(dst, byte(m.Button), byte(m.Kind), byte(m.Mods))
}

// DecodeInput decodes a message from a viewer. The error is ErrUnknownKind if a newer release has
// added the kind. The result does not refer to b.
func DecodeInput(b []byte) (api.Input, error) {
	var in api.Input
	d := decoder{b: b}
	switch kind := d.byte(); kind {
	case InputBytes:
		in.Bytes = append([]byte{}, d.rest()...)
	case InputKey:
		in.Key = decodeKey(&d)
	case inputMouse:
		in.Mouse = &keys.Mouse{X: d.small(), Y: d.small(), Button: keys.Button(d.byte()),
			Kind: keys.MouseKind(d.byte()), Mods: keys.Mod(d.byte())}
	case InputPaste:
		text := string(d.rest())
		in.Paste = &text
	case inputFocus:
		on := d.bool()
		in.Focus = &on
	case InputResize:
		in.Resize = &api.Size{Cols: d.small(), Rows: d.small()}
	case inputLines:
		in.Lines = &api.LineRange{From: d.varint(), Count: d.small()}
	case inputPlaces:
		if in.Anchors = d.places(0); in.Anchors == nil {
			in.Anchors = []api.Place{}
		}
	case InputMark:
		n := d.uvarint(math.MaxUint64)
		in.Mark = &n
	case inputDisplay:
		in.Display = d.display()
	case inputAsk:
		in.AskColors = true
	case inputReset:
		in.Reset = true
	case InputHand:
		in.Hand = &api.Hand{Back: d.bool(), NoClipboard: d.bool()}
	case InputTyped:
		in.Typed = append([]byte{}, d.rest()...)
	case InputMaster:
		in.Master = true
	default:
		if isKind(kind) {
			return api.Input{}, ErrUnknownKind
		}
		d.fail()
	}
	if err := d.end(); err != nil {
		return api.Input{}, fmt.Errorf("decode input: %w", err)
	}
	return in, nil
}

func decodeKey(d *decoder) *keys.Key {
	k := &keys.Key{Code: keys.Code(d.rune()), Mods: keys.Mod(d.byte())}
	phase := d.byte()
	k.Phase, k.Implied = keys.Phase(phase&^impliedAlt), phase&impliedAlt != 0
	k.Shifted, k.Base, k.Text = d.rune(), d.rune(), string(d.rest())
	return k
}

// AppendOutput appends the message for out to dst.
func AppendOutput(dst []byte, out api.Output) ([]byte, error) {
	switch {
	case out.Frame != nil:
		return AppendFrame(append(dst, outputFrame), out.Frame), nil
	case out.Bytes != nil:
		return append(append(dst, outputBytes), out.Bytes...), nil
	case out.Lines != nil:
		return appendStrips(appendLines(append(dst, outputLines), out.Lines, 0), out.Lines), nil
	case out.Picture != nil:
		return appendPicture(append(dst, outputPicture), out.Picture), nil
	case out.Clip != nil:
		return append(append(dst, outputClip), out.Clip...), nil
	case out.Mark != nil:
		dst = binary.AppendUvarint(append(dst, outputMark), out.Mark.N)
		return binary.AppendVarint(dst, int64(out.Mark.Held)), nil
	case out.Direct != nil:
		return appendDirect(append(dst, outputDirect), out.Direct), nil
	case out.Master != nil:
		return appendBool(appendBool(append(dst, outputMaster), out.Master.Lent), out.Master.Refused), nil
	case out.Modes != nil:
		return appendModes(append(dst, outputModes), out.Modes), nil
	case out.Accepted != nil:
		return binary.AppendUvarint(append(dst, outputDone), *out.Accepted), nil
	case out.Keyboard != nil:
		return append(dst, outputKeys, *out.Keyboard), nil
	case out.Ended != nil:
		return AppendJSON(append(dst, outputEnded), out.Ended)
	}
	return dst, api.Errorf(api.CodeInternal, "send output: the message has no content")
}

func AppendJSON(dst []byte, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return dst, api.Errorf(api.CodeInternal, "send output: %v", err)
	}
	return append(dst, body...), nil
}

// DecodeOutput decodes a message from a session. If the engine has sent an error, it is returned as
// an *api.Error. The result does not refer to b.
func DecodeOutput(b []byte) (api.Output, error) {
	var out api.Output
	d := decoder{b: b}
	switch kind := d.byte(); kind {
	case outputFrame:
		f, err := DecodeFrame(d.rest())
		if err != nil {
			return api.Output{}, fmt.Errorf("decode frame: %w", err)
		}
		out.Frame = f
	case outputBytes:
		out.Bytes = append([]byte{}, d.rest()...)
	case outputLines:
		if out.Lines = d.lines(0); out.Lines == nil {
			out.Lines = []api.NumberedLine{}
		}
		d.strips(out.Lines)
	case outputPicture:
		out.Picture = d.picture()
	case outputClip:
		out.Clip = append([]byte{}, d.rest()...)
	case outputMark:
		out.Mark = &api.Mark{N: d.uvarint(math.MaxUint64), Held: time.Duration(d.varint())}
	case outputDirect:
		out.Direct = d.direct()
	case outputMaster:
		out.Master = &api.Master{Lent: d.bool(), Refused: d.bool()}
	case outputModes:
		out.Modes = d.modes()
	case outputDone:
		n := d.uvarint(math.MaxUint64)
		out.Accepted = &n
	case outputKeys:
		flags := d.byte()
		out.Keyboard = &flags
	case outputEnded:
		out.Ended = new(api.Process)
		if json.Unmarshal(d.rest(), out.Ended) != nil {
			d.fail()
		}
	case OutputError:
		return api.Output{}, DecodeError(AttachName, 0, d.rest())
	default:
		if isKind(kind) {
			return api.Output{}, ErrUnknownKind
		}
		d.fail()
	}
	if err := d.end(); err != nil {
		return api.Output{}, fmt.Errorf("decode output: %w", err)
	}
	return out, nil
}
