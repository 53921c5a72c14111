/// Numbers from the binary form in which the server sends them.
@usableFromInline package enum BinaryNumber {
    /// A whole number of any width.
    @inlinable @inline(__always)
    package static func integer(_ raw: UnsafeRawBufferPointer) -> Int64 {
        switch raw.count {
        case 8: Int64(bigEndian: raw.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: raw.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: raw.loadUnaligned(as: Int16.self)))
        case 1: Int64(raw[0])
        default: 0
        }
    }

    /// A floating-point number of either width; 0 for no value.
    @inlinable @inline(__always)
    package static func double(_ raw: UnsafeRawBufferPointer) -> Double {
        switch raw.count {
        case 8: return Double(bitPattern: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)))
        case 4: return Double(Float(bitPattern: UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self))))
        default: return 0
        }
    }
}
