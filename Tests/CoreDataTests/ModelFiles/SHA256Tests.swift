import Foundation
import ModelFiles
import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import StoreEngine

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "The published test vectors hold",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func vectors(message: String, hash: String) {
        #expect(SHA256.hash(message.utf8).map { String(format: "%02x", $0) }.joined() == hash)
    }

    @Test("A million letters have their known hash, over many blocks")
    func long() {
        let hash = SHA256.hash(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        let text = hash.map { String(format: "%02x", $0) }.joined()
        #expect(text == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(
        "Bytes that come in pieces have the hash of the whole, whatever the pieces", arguments: [1, 7, 63, 64, 65, 200])
    func pieces(size: Int) {
        for count in [0, 1, 54, 55, 56, 63, 64, 65, 119, 128, 1000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            var hash = SHA256()
            for start in stride(from: 0, to: count, by: size) {
                Array(bytes[start..<min(start + size, count)]).withUnsafeBytes { hash.add($0) }
            }
            #expect(hash.end() == SHA256.hash(bytes), "\(count)")
        }
    }

    @Test("A file is hashed piece by piece, and one that is not there has no hash")
    func file() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: url) }
        // Longer than what is read at a time.
        let bytes = [UInt8](repeating: 7, count: 300_001)
        try Data(bytes).write(to: url)
        #expect(SHA256.digits(ofFile: url.path) == SHA256.digits(of: SHA256.hash(bytes)))
        #expect(SHA256.digits(ofFile: url.path + "-none") == nil)
    }
}
