import Testing

@testable import Pippin

@Suite("Places that stay")
struct StayingPlacesTests {
    @Test("are found by their rank, and their rank by the place, next to those that leave")
    func ranks() {
        // 0 1 2 3 4 5 6 7 without 1, 2, 5
        let staying = StayingPlaces(of: 8, without: [1, 2, 5])
        #expect(staying.count == 5)
        #expect((0..<5).map(staying.place(ofRank:)) == [0, 3, 4, 6, 7])
        #expect((0...8).map(staying.rank(of:)) == [0, 1, 1, 1, 2, 3, 3, 4, 5])
    }

    @Test("are the same as by counting, whichever leave", arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let count = numbers.next(below: 60)
        let share = numbers.next(below: 4)
        let leaving = (0..<count).filter { _ in numbers.next(below: 4) < share }
        let staying = StayingPlaces(of: count, without: leaving)
        let places = (0..<count).filter { !leaving.contains($0) }
        #expect(staying.count == places.count)
        #expect(places.indices.map(staying.place(ofRank:)) == places)
        for place in 0...count { #expect(staying.rank(of: place) == places.count { $0 < place }) }

        let arrivals =
            places.indices.filter { _ in numbers.next(below: 3) == 0 }.map { (rank: $0, element: 1000 + $0) }
            + [(rank: places.count, element: 2000)]
        var expected: [Int] = []
        for rank in 0...places.count {
            expected += arrivals.filter { $0.rank == rank }.map(\.element)
            if rank < places.count { expected.append(places[rank]) }
        }
        #expect(staying.merge(Array(0..<count), with: arrivals, count: expected.count) == expected)
    }

    @Test("are cut at the end of a limited list")
    func cut() {
        let staying = StayingPlaces(of: 4, without: [0])
        #expect(staying.merge(["a", "b", "c", "d"], with: [(rank: 1, element: "new")], count: 3) == ["b", "new", "c"])
        #expect(staying.merge(["a", "b", "c", "d"], with: [(rank: 1, element: "new")], count: 2) == ["b", "new"])
    }
}
