import CoreData
import Foundation

@testable import CoreDataModel

/// Makes ZIP archives: files one after the other, and the list of them at the end.
enum ZipFile {
    struct File {
        let name: String
        let content: Data
        var isDeflated = true
        var isEncrypted = false
    }

    /// - Parameters:
    ///   - files: the files.
    ///   - isWide: whether numbers are written with 64 bits, as in archives of more than four gigabytes.
    /// - Returns: the archive.
    /// - Throws: the errors of zlib.
    static func data(_ files: [File], isWide: Bool = false) throws -> Data {
        var (archive, list) = (Data(), Data())
        for file in files {
            let stored = file.isDeflated ? try RawDeflate.deflate(file.content) : file.content
            let (offset, name) = (archive.count, Data(file.name.utf8))
            let facts =
                number(file.isEncrypted ? 1 : 0, 2) + number(file.isDeflated ? 8 : 0, 2) + Data(count: 4)
                + number(Int(checksum(file.content)), 4)
            archive += number(0x0403_4B50, 4) + number(20, 2) + facts + number(stored.count, 4)
            archive += number(file.content.count, 4) + number(name.count, 2) + number(0, 2) + name + stored
            let extra =
                isWide
                ? number(1, 2) + number(24, 2) + number(file.content.count, 8) + number(stored.count, 8)
                    + number(offset, 8) : Data()
            let narrow = { (value: Int) in number(isWide ? 0xFFFF_FFFF : value, 4) }
            list += number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + facts + narrow(stored.count)
            list += narrow(file.content.count) + number(name.count, 2) + number(extra.count, 2) + Data(count: 10)
            list += narrow(offset) + name + extra
        }
        let start = archive.count
        archive += list
        if isWide {
            let record = archive.count
            archive += number(0x0606_4B50, 4) + number(44, 8) + Data(count: 12) + number(files.count, 8)
            archive += number(files.count, 8) + number(list.count, 8) + number(start, 8)
            archive += number(0x0706_4B50, 4) + Data(count: 4) + number(record, 8) + number(1, 4)
        }
        archive += number(0x0605_4B50, 4) + Data(count: 4) + number(files.count, 2) + number(files.count, 2)
        archive += number(isWide ? 0xFFFF_FFFF : list.count, 4) + number(isWide ? 0xFFFF_FFFF : start, 4)
        return archive + number(0, 2)
    }

    private static func number(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    /// CRC-32, bit by bit.
    private static func checksum(_ data: Data) -> UInt32 {
        var sum: UInt32 = .max
        for byte in data {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
