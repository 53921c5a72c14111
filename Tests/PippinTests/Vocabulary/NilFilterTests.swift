import Foundation
import Pippin
import TestSupport
import Testing

/// No two of these can be compared.
private struct Painter: CoreModel {
    let id: Int
    var name: String
}

private struct Picture: CoreModel {
    let id: Int
    var painter: Painter?
}

@Suite("Filters by nothing")
struct NilFilterTests {
    @Test("find models that lead to no other one, of a type that is not Equatable, in the store and in memory")
    func relationship() throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Picture.self, store: .file(folder.file("pictures.sqlite")))
        let pictures = [Picture(id: 1, painter: Painter(id: 7, name: "Emma")), Picture(id: 2)]
        try manager.writeAndWait { try $0.save(pictures) }
        let (without, with): (Filter<Picture>, Filter<Picture>) = (\.painter == nil, \.painter != nil)
        let found = try manager.readAndWait {
            (try $0.fetch(Picture.self, where: without).map(\.id), try $0.fetch(Picture.self, where: with).map(\.id))
        }
        #expect(found == ([2], [1]))
        #expect(try pictures.map { try without.matches($0) } == [false, true])
    }
}
