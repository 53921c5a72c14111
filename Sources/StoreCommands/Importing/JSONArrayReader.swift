import Foundation
import StoreReading

/// The elements of an array in JSON, one after the other, as bytes that are not parsed further.
struct JSONArrayReader {
    /// The file has no array.
    struct Mistake: Error {}

    private var bytes: ByteReader
    private var hasBegun = false

    init(_ bytes: ByteReader) { self.bytes = bytes }

    /// How much of the file was read.
    var fraction: Double? { bytes.fraction }

    /// The next element; nil at the end of the array, behind which there must be nothing.
    ///
    /// - Throws: `Mistake` for what is no array, or one that does not end; the errors of the file.
    mutating func next() throws -> Data? {
        if !hasBegun {
            try bytes.skipMark()
            try expect(UInt8(ascii: "["))
            hasBegun = true
            if try skipBlanks() == UInt8(ascii: "]") { return try end() }
            return try element()
        }
        switch try skipBlanks() {
        case UInt8(ascii: ","):
            _ = try bytes.next()
            return try element()
        case UInt8(ascii: "]"): return try end()
        default: throw Mistake()
        }
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard try skipBlanks() == byte else { throw Mistake() }
        _ = try bytes.next()
    }

    private mutating func end() throws -> Data? {
        _ = try bytes.next()
        guard try skipBlanks() == nil else { throw Mistake() }
        return nil
    }

    private mutating func skipBlanks() throws -> UInt8? {
        while let byte = try bytes.peek() {
            guard [0x20, 0x09, 0x0A, 0x0D].contains(byte) else { return byte }
            _ = try bytes.next()
        }
        return nil
    }

    /// Up to the comma or bracket that is the array's own.
    private mutating func element() throws -> Data {
        var element = Data()
        var (depth, isText, isEscaped) = (0, false, false)
        while let byte = try bytes.peek() {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: ",") where depth == 0: return element
                case UInt8(ascii: "]") where depth == 0: return element
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            element.append(byte)
            _ = try bytes.next()
        }
        throw Mistake()
    }
}
