import Testing

@testable import CoreData
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Keys of migrated objects")
struct KeyColumnTests {
    private func column(_ portions: [Int64]...) -> KeyColumn {
        var column = KeyColumn()
        for portion in portions {
            for key in portion { column.append(key) }
            column.index()
        }
        return column
    }

    @Test("A key is found where it was put, in whatever order the keys came")
    func positions() {
        for keys: [[Int64]] in [[[1, 3], [5, 9]], [[9, 5], [3, 1]], [[3, 9], [1, 5]], [[1], [9], [3], [5]]] {
            var column = KeyColumn()
            for portion in keys {
                for key in portion { column.append(key) }
                column.index()
            }
            for (position, key) in keys.joined().enumerated() { #expect(column.positions(of: key) == [position]) }
            for missing: Int64 in [0, 2, 4, 10] { #expect(column.positions(of: missing) == []) }
        }
    }

    @Test("A key that came several times is found everywhere, and counts once")
    func repetitions() {
        for column in [column([2, 2, 4]), column([4, 2], [2])] {
            let positions = column.positions(of: 2)
            #expect(positions.count == 2)
            #expect(positions == positions.sorted())
            #expect(positions.map(column.isFirst) == [true, false])
            #expect(column.positions(of: 4).allSatisfy(column.isFirst))
        }
    }

    @Test("Of very many equal keys, each is told to be the first or not at once", .timeLimit(.minutes(1)))
    func manyEqual() {
        for column in [column(Array(repeating: 1, count: 100_000)), column([2] + Array(repeating: 1, count: 100_000))] {
            #expect(column.keys.indices.filter(column.isFirst).count == (column.keys[0] == 1 ? 1 : 2))
        }
    }

    @Test(
        "Many portions of descending keys are indexed without going through the earlier ones each time",
        .timeLimit(.minutes(1)))
    func manyPortions() {
        var column = KeyColumn()
        let (portions, size) = (2000, 100)
        for portion in 0..<portions {
            for key in 0..<size { column.append(Int64((portions - portion) * size - key)) }
            column.index()
        }
        for key in stride(from: 1, through: Int64(portions * size), by: 997) {
            #expect(column.positions(of: key) == [portions * size - Int(key)])
        }
    }

    @Test("An empty column has nothing")
    func empty() { #expect(column().positions(of: 1) == []) }
}
