import Pippin
import Testing

private struct Part: CoreModel, Equatable {
    let id: Int
    var spare: [Part] = []
    static var schema: Schema<Part> { Schema(.owns(\.spare)) }
}

private struct Device: CoreModel, Equatable {
    let id: Int
    var main: Part?
    var second: Part?
    static var schema: Schema<Device> { Schema(.owns(\.main), .owns(\.second)) }
}

@Suite("update(_:where:) that gives a model another owned one", .serialized)
struct OwnerUpdateTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Device.self) }

    private func update(
        inBlock: Bool, _ changes: @escaping @Sendable (inout ModelChanges<Device>) -> Void
    ) async throws -> Device? {
        if inBlock {
            try await manager.write { _ = try $0.update(Device.self, where: \.id == 1, changes) }
        } else {
            try await manager.update(Device.self, where: \.id == 1, changes)
        }
        return try await manager.find(Device.self, id: 1)
    }

    private func parts() async throws -> [Int] {
        try await manager.fetch(Part.self, sortedBy: .ascending(\.id)).map(\.id)
    }

    @Test("keeps what the former one owned, and deletes the rest of it", arguments: [false, true])
    func ownedByFormer(inBlock: Bool) async throws {
        let inner = Part(id: 3, spare: [Part(id: 4)])
        try await manager.save(Device(id: 1, main: Part(id: 1, spare: [Part(id: 2, spare: [inner]), Part(id: 5)])))
        #expect(try await update(inBlock: inBlock) { $0.set(\.main, to: Part(id: 3)) }?.main == inner)
        #expect(try await parts() == [3, 4])
    }

    @Test("keeps models that change places", arguments: [false, true])
    func swapped(inBlock: Bool) async throws {
        try await manager.save(Device(id: 1, main: Part(id: 1), second: Part(id: 2)))
        let device = try await update(inBlock: inBlock) {
            $0.set(\.main, to: Part(id: 2))
            $0.set(\.second, to: Part(id: 1))
        }
        #expect(device == Device(id: 1, main: Part(id: 2), second: Part(id: 1)))
        #expect(try await parts() == [1, 2])
    }

    @Test("keeps what another property's former model owned", arguments: [false, true])
    func ownedByOther(inBlock: Bool) async throws {
        try await manager.save(Device(id: 1, main: Part(id: 1, spare: [Part(id: 2)]), second: Part(id: 3)))
        let device = try await update(inBlock: inBlock) {
            $0.set(\.main, to: nil)
            $0.set(\.second, to: Part(id: 2))
        }
        #expect(device == Device(id: 1, second: Part(id: 2)))
        #expect(try await parts() == [2])
    }
}
