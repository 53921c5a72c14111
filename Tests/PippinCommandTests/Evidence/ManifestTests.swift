import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("The manifest of a run")
struct ManifestTests {
    @Test(
        "names the files that were read and written, with their hashes, and that they are unchanged",
        arguments: ["info", "dump", "query", "export", "report", "recover", "timeline"])
    func manifest(command: String) throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let (manifest, output) = (
                folder.appendingPathComponent("manifest.json"), folder.appendingPathComponent("out.html")
            )
            var arguments = [command, store.path]
            if ["export", "query"].contains(command) { arguments.append("Book") }
            if ["export", "report", "recover", "timeline"].contains(command) {
                arguments += ["--output", output.path]
            }
            let run = CommandRun(arguments: arguments + ["--evidence", manifest.path])
            #expect(run.status == 0, "\(run.errors)")
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any])
            let read = try #require(document["read"] as? [[String: Any]])
            #expect(read.first?["path"] as? String == URL(store: store.path).path)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.path)))
            #expect(read.first?["sha256"] as? String == SHA256.digits(of: SHA256.hash(bytes)))
            #expect(document["unchanged"] as? Bool == true)
            #expect((document["arguments"] as? [String])?.first == command)
            let written = try #require(document["written"] as? [[String: Any]])
            #expect(written.count == ["export": 1, "report": 1, "recover": 3, "timeline": 1][command, default: 0])
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
