import Observation
import Pippin
import Testing

private struct Guest: CoreModel, Equatable {
    let id: Int
    var name: String
}

// The macro writes `Observation.Observable`, which a type named `Observation` in an imported module would hide.
@Observable @MainActor private final class GuestList {
    private(set) var names: [String] = []

    func follow(_ manager: PersistenceManager, until count: Int) async throws {
        for try await guests in manager.observe(Guest.self, sortedBy: .ascending(\.id)) {
            names = guests.map(\.name)
            if names.count == count { return }
        }
    }
}

@Suite("A class with @Observable in a file that imports Pippin")
struct ObservableViewModelTests {
    @Test("A view model that follows a live query tells its observers") @MainActor
    func follows() async throws {
        let manager = PersistenceManager(models: Guest.self, store: .memory)
        try await manager.save(Guest(id: 1, name: "Ada"))
        let list = GuestList()
        try await confirmation { changed in
            withObservationTracking {
                _ = list.names
            } onChange: {
                changed()
            }
            try await list.follow(manager, until: 1)
        }
        #expect(list.names == ["Ada"])
    }
}
