import CPippinZlib
import Foundation
import ModelFiles

/// Raw deflate (RFC 1951, without header or checksum), the compression of a store's model cache.
package enum RawDeflate {
    /// No real model is nearly this large, but malicious data may be.
    package static let maximumInflatedSize = 64 << 20

    /// Inflates data.
    ///
    /// - Throws: `ModelFileError` if the data are damaged, truncated, or inflate to more than the limit.
    package static func inflate(_ data: Data, limit: Int = maximumInflatedSize) throws -> Data {
        var output = Data()
        var isRead = false
        try inflate {
            defer { isRead = true }
            return isRead ? [] : [UInt8](data)
        } output: { chunk in
            output.append(contentsOf: chunk)
            guard output.count <= limit else {
                throw ModelFileError(.corrupt, reason: "the compressed data inflate to more than \(limit) bytes")
            }
            return true
        }
        return output
    }

    /// Inflates data of any size, piece by piece.
    ///
    /// - Parameters:
    ///   - input: returns the next compressed bytes; none at their end.
    ///   - output: takes the next inflated bytes, which it must not keep, and says whether to go on.
    /// - Throws: `ModelFileError` if the data are damaged or truncated; the errors of `input` and `output`.
    package static func inflate(
        input: () throws -> [UInt8], output: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var stream = z_stream()
        guard inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ModelFileError(.corrupt, reason: "zlib cannot be started")
        }
        defer { inflateEnd(&stream) }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var (status, goesOn) = (Z_OK, true)
        while status != Z_STREAM_END, goesOn {
            var piece = try input()
            let isEnd = piece.isEmpty
            // Unsafe pointers, because zlib keeps pointers into input and output between calls; neither moves within
            // the closures.
            try piece.withUnsafeMutableBufferPointer { piece in
                stream.next_in = piece.baseAddress
                stream.avail_in = uInt(clamping: piece.count)
                repeat {
                    let produced = chunk.withUnsafeMutableBufferPointer { chunk -> Int in
                        stream.next_out = chunk.baseAddress
                        stream.avail_out = uInt(chunk.count)
                        status = CPippinZlib.inflate(&stream, Z_NO_FLUSH)
                        return chunk.count - Int(stream.avail_out)
                    }
                    // Without input, zlib says that it cannot go on.
                    guard status == Z_OK || status == Z_STREAM_END || (status == Z_BUF_ERROR && !isEnd) else {
                        throw ModelFileError(
                            .corrupt, reason: "the compressed data are damaged or cut off (zlib error \(status))")
                    }
                    goesOn = try chunk.withUnsafeBytes { try output(UnsafeRawBufferPointer(rebasing: $0[..<produced])) }
                } while goesOn && status == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)
                stream.next_in = nil
            }
        }
    }

    /// Deflates data.
    package static func deflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        let status = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw ModelFileError(.unwritable, reason: "zlib cannot be started") }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(input.count))))
        // Unsafe pointers, because zlib requires them; the bound above suffices for one call.
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(clamping: input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(clamping: output.count)
                return CPippinZlib.deflate(&stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END else {
            throw ModelFileError(.unwritable, reason: "the data cannot be compressed (zlib error \(result))")
        }
        return Data(output.prefix(Int(stream.total_out)))
    }
}
