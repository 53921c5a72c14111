import Foundation

/// What both sides write: the six values of one object.
struct Sample {
    let uid: String
    let title: String
    let count: Int64
    let price: Double
    let createdAt: Date
    let isFlagged: Bool

    init(number: Int) {
        // Spread over the index like identifiers are, and the same in each run.
        let scattered = UInt64(truncatingIfNeeded: number &+ 1) &* 0x9E37_79B9_7F4A_7C15
        let digits = String(scattered, radix: 16)
        uid = String(repeating: "0", count: 16 - digits.count) + digits
        title = "The book with the number \(number)"
        count = Int64(number)
        price = Double(number % 10_000) / 4
        createdAt = Date(timeIntervalSinceReferenceDate: Double(700_000_000 + number))
        isFlagged = number % 3 == 0
    }

    static func make(_ count: Int) -> [Sample] {
        (0..<count).map(Sample.init(number:))
    }
}

/// A sum over everything that was read: equal sums show that both sides read the same, and keep the compiler from
/// leaving the reading out.
struct Checksum: Equatable, CustomStringConvertible {
    private(set) var total = 0

    mutating func add(
        uidBytes: Int, titleBytes: Int, count: Int64, price: Double, createdAt: Double, isFlagged: Bool
    ) {
        total &+= uidBytes &+ titleBytes &+ Int(count) &+ Int(price) &+ Int(createdAt) &+ (isFlagged ? 1 : 0)
    }

    var description: String { String(total) }
}
