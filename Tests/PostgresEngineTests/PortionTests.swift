import PostgresEngine
import Testing

@Suite("Rows that are written together")
struct PortionTests {
    private func cut(_ sizes: [Int], _ limit: Int) -> [Range<Int>] {
        Portions.cut(sizes.count, limit: limit) { sizes[$0] }
    }

    @Test("are cut where they would be too large")
    func cut() {
        #expect(cut([], 10) == [])
        #expect(cut([1, 2, 3], 10) == [0..<3])
        #expect(cut([5, 5, 1], 10) == [0..<2, 2..<3])
        #expect(cut([4, 4, 4, 4], 10) == [0..<2, 2..<4])
        #expect(cut([0, 0, 0], 0) == [0..<3])
    }

    @Test("A row that is too large is written alone")
    func large() {
        #expect(cut([20], 10) == [0..<1])
        #expect(cut([1, 20, 1, 1], 10) == [0..<1, 1..<2, 2..<4])
        #expect(cut([20, 20], 10) == [0..<1, 1..<2])
    }
}
