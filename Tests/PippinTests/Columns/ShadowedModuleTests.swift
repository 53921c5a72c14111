import Foundation
import Pippin
import Testing

// A program may have types with the names of modules, which hide these.
private enum Pippin {}
private enum Swift {}

@CoreModel
private struct Apple: Equatable {
    let id: Int
    var sort: String
    var isRipe = false {
        didSet { if isRipe { sort += "!" } }
    }
}

@Suite("@CoreModel beside a type with the name of a module")
struct ShadowedModuleTests {
    @Test("makes a model all the same")
    func roundTrip() async throws {
        let manager = PersistenceManager(models: Apple.self, store: .memory)
        let apple = Apple(id: 1, sort: "Blenheim")
        try await manager.save(apple)
        #expect(try await manager.fetch(Apple.self, where: \.isRipe == false) == [apple])
    }
}
