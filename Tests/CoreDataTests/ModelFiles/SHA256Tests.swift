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
}
