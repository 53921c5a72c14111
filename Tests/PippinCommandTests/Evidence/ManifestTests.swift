import Foundation
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("The manifest of a run")
struct ManifestTests {
    @Test("hashes are those that FIPS 180-4 and sha256sum have, at every length around a block")
    func hashes() throws {
        #expect(
            FileDigest.hash(of: []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            FileDigest.hash(of: Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        try inTestFolder { folder in
            let file = folder.appendingPathComponent("bytes")
            // Longer than what is read at a time.
            let bytes = [UInt8](repeating: 7, count: 300_001)
            try Data(bytes).write(to: file)
            #expect(FileDigest.hash(ofFile: file.path) == FileDigest.hash(of: bytes))
        }
        for count in 54...66 {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(FileDigest.hash(of: bytes).count == 64)
        }
    }

    @Test(
        "names the files that were read and written, with their hashes, and that they are unchanged",
        arguments: ["info", "dump", "export", "report", "recover"])
    func manifest(command: String) throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let (manifest, output) = (
                folder.appendingPathComponent("manifest.json"), folder.appendingPathComponent("out.html")
            )
            var arguments = [command, store.path]
            if command == "export" { arguments.append("Book") }
            if ["export", "report", "recover"].contains(command) { arguments += ["--output", output.path] }
            let run = CommandRun(arguments: arguments + ["--evidence", manifest.path])
            #expect(run.status == 0, "\(run.errors)")
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any])
            let read = try #require(document["read"] as? [[String: Any]])
            #expect(read.first?["path"] as? String == URL(store: store.path).path)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.path)))
            #expect(read.first?["sha256"] as? String == FileDigest.hash(of: bytes))
            #expect(document["unchanged"] as? Bool == true)
            #expect((document["arguments"] as? [String])?.first == command)
            let written = try #require(document["written"] as? [[String: Any]])
            #expect(written.count == ["export": 1, "report": 1, "recover": 3][command, default: 0])
        }
    }

    @Test("is written for a run that fails, too")
    func failure() throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let manifest = folder.appendingPathComponent("manifest.json")
            let run = CommandRun("export", store.path, "Nobody", "--evidence", manifest.path)
            #expect(run.status == 1)
            let text = try String(contentsOf: manifest, encoding: .utf8)
            #expect(text.contains("\"status\": 1"))
        }
    }
}
