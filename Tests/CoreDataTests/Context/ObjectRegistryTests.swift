@testable import CoreData
import TestSupport
import Testing

/// The table of a context's objects, held against a list of them.
@Suite("The objects of a context by their keys")
struct ObjectRegistryTests {
    private struct Known: Hashable {
        let key: Int64
        let tag: UInt64
    }

    @Test("are those that came and have not gone, whichever keys they have", arguments: [1, 7, 32, 100_003] as [Int64])
    func made(step: Int64) {
        var random = SplitMix(state: UInt64(step))
        var registry = ObjectRegistry()
        registry.makeRoom(for: 100, areSpaced: step == 32)
        // Addresses of objects that are not looked at, each registered once.
        var objects: [Marker] = []
        var expected: [Known: [ObjectIdentifier]] = [:]
        for turn in 0..<20_000 {
            let known = Known(
                key: (Int64.random(in: -300...300, using: &random) &+ Int64(turn / 100)) &* step,
                tag: UInt64.random(in: 0...2, using: &random) << 24 | 1)
            let marker = Marker()
            objects.append(marker)
            let object = ObjectIdentifier(marker)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let isNew = expected[known, default: []].isEmpty
                let isInserted = registry.insertIfNew(object, known.key, known.tag)
                #expect(isInserted == isNew)
                if isNew { expected[known] = [object] }
            case 3:
                registry.insert(object, known.key, known.tag)
                expected[known, default: []].append(object)
            case 4..<9:
                guard let found = expected.randomElement(using: &random), let gone = found.value.first else { continue }
                registry.remove(gone, found.key.key, found.key.tag)
                expected[found.key] = found.value.count > 1 ? Array(found.value.dropFirst()) : nil
            default:
                // One that is not there; and more are about to come, spaced otherwise.
                if expected[known] == nil { registry.remove(object, known.key, known.tag) }
                registry.makeRoom(for: turn % 200, areSpaced: turn % 3 == 0)
            }
            guard turn % 500 == 0 else { continue }
            let all = expected.values.flatMap { $0 }
            let found = registry.all.sorted { $0 < $1 }
            #expect(found == all.sorted { $0 < $1 })
            for store in 0...3 {
                let isThere = expected.keys.contains { $0.tag >> 24 == UInt64(store) }
                let (holds, holdsNone) = (
                    registry.holdsObjects(ofStore: store),
                    registry.holdsNone(UInt64(store) << 24 | 1, amongAtMost: .max)
                )
                #expect(holds == isThere)
                #expect(holdsNone == !isThere)
            }
        }
        registry.removeAll()
        let (isUnused, all) = (registry.isUnused, registry.all)
        #expect(isUnused)
        #expect(all.isEmpty)
    }

    private final class Marker {}
}
