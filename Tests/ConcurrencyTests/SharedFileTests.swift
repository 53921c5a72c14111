import ConcurrencyChild
import Foundation
import Pippin
import TestSupport
import Testing

@Suite("Programs with different structs that share a file", .ownThread)
struct SharedFileTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("lose none of each other's rows, whoever makes the file")
    func rows() throws {
        let notes = try (0..<2).map { _ in try Child("leave", folder.store, 40) }
        let labels = try (0..<2).map { _ in try Child("label", folder.store, 40) }
        for child in notes + labels {
            let end = child.wait()
            #expect(end.complaint == "")
            #expect(end.status == 0)
        }
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [40])
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZLABEL", in: folder.store) == [40])
        #expect(try plainNumbers("SELECT COUNT(DISTINCT Z_ENT) FROM ZNOTE", in: folder.store) == [1])
        let strangers = "SELECT COUNT(*) FROM ZLABEL WHERE Z_ENT IN (SELECT Z_ENT FROM ZNOTE)"
        #expect(try plainNumbers(strangers, in: folder.store) == [0])
    }

    @Test("go on writing when one of them adds its entity to the file")
    func addition() throws {
        let manager = Notes.old(at: folder.store)
        try manager.openExplicitly(nil, nil)
        try manager.writeAndWait { try $0.save(Notes.V1.Note(uid: 1, text: "before")) }
        #expect(try Child("label", folder.store, 1).wait().complaint == "")
        try manager.writeAndWait { try $0.save(Notes.V1.Note(uid: 2, text: "after")) }
        #expect(try manager.readAndWait { try $0.count(Notes.V1.Note.self) } == 2)
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZLABEL", in: folder.store) == [1])
    }
}
