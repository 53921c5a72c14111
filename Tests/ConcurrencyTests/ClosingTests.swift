import ConcurrencyChild
import Foundation
import Pippin
import TestSupport
import Testing

@Suite("A store's file after the program has ended", .ownThread)
struct ClosingTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// What is in a copy of the main file alone.
    private func copied() throws -> [Int] {
        let copy = folder.url.appendingPathComponent("copy-\(UUID().uuidString).sqlite")
        try FileManager.default.copyItem(at: folder.store, to: copy)
        return try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: copy)
    }

    @Test("The main file alone has all rows, also when the manager was never let go") func process() throws {
        let end = try Child("leave", folder.store, 20).wait()
        #expect(end.complaint == "")
        #expect(try copied() == [20])
    }

    @Test("The main file alone has all rows, also while another program has the store open") func shared() throws {
        let other = Notes.old(at: folder.store)
        try other.openExplicitly(nil, nil)
        let end = try Child("leave", folder.store, 20).wait()
        #expect(end.complaint == "")
        #expect(try copied() == [20])
        #expect(try other.readAndWait { try $0.count(Notes.V1.Note.self) } == 20)
    }

    @Test("The main file alone has all rows when the manager is gone") func letGo() throws {
        let other = Notes.old(at: folder.store)
        try other.openExplicitly(nil, nil)
        do {
            let manager = Notes.old(at: folder.store)
            try manager.openExplicitly(nil, nil)
            try manager.writeAndWait { try $0.save((0..<20).map { Notes.V1.Note(uid: $0, text: "") }) }
        }
        // Whoever looks at the store for changes at that moment holds it a little longer.
        let end = Date(timeIntervalSinceNow: 20)
        while Date() < end, (try? copied()) != [20] { usleep(10_000) }
        #expect(try copied() == [20])
        withExtendedLifetime(other) {}
    }
}
