import Foundation
import Pippin

/// A model of the matrix, and what a program by hand has to know of it.
protocol Shape: CoreModel, Equatable, Sendable {
    /// Its table and its columns, the identifier's first.
    static var table: String { get }
    static var columns: [String] { get }
    /// How many of it are measured.
    static var count: Int { get }

    init(number: Int)
    init<Row: RowReader>(row: Row, at first: Int)
    func bind<Writer: ColumnWriter>(to writer: inout Writer)
    static func bind<Writer: ColumnWriter>(id: ID, to writer: inout Writer)
    mutating func change()
    func add(to sum: inout Sum)
    /// What a work left in a file, which is removed.
    static func outcome(_ file: URL) throws -> Outcome
}

extension Shape {
    static var count: Int { 20_000 }
    static func make() -> [Self] { (0..<count).map(Self.init(number:)) }
}

/// A model that owns others.
protocol OwnerShape: Shape {
    associatedtype Member: Shape
    static var members: Int { get }
    var members: [Member] { get set }
}

/// A sum over what was read, so that nothing is left out, and both sides are seen to read the same.
struct Sum: Equatable, Sendable {
    private(set) var total: UInt64 = 0

    @inline(__always) mutating func add(_ number: Int) { total = total &* 31 &+ UInt64(bitPattern: Int64(number)) }
    @inline(__always) mutating func add(_ number: Int64) { total = total &* 31 &+ UInt64(bitPattern: number) }
    @inline(__always) mutating func add(_ number: Double) { total = total &* 31 &+ number.bitPattern }
    @inline(__always) mutating func add(_ text: String) { add(text.utf8.count) }
    @inline(__always) mutating func add(_ date: Date) { add(date.timeIntervalSinceReferenceDate) }
    @inline(__always) mutating func add(_ data: Data) { add(data.count) }
    @inline(__always) mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }
    @inline(__always) mutating func add(_ id: UUID) { add(Int(id.uuid.0) << 8 | Int(id.uuid.15)) }
    @inline(__always) mutating func add(_ number: Int?) { add(number ?? -1) }
    @inline(__always) mutating func add(_ number: Double?) { add(number ?? -1) }
    @inline(__always) mutating func add(_ text: String?) { add(text?.utf8.count ?? -1) }
    @inline(__always) mutating func add(_ date: Date?) { add(date?.timeIntervalSinceReferenceDate ?? -1) }
    @inline(__always) mutating func add(_ flag: Bool?) { add(flag.map { $0 ? 1 : 0 } ?? -1) }
}

/// Values that look like those of programs, by number.
enum Made {
    static func uuid(_ number: Int) -> UUID {
        var bytes = (UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15, UInt64(truncatingIfNeeded: number))
        return withUnsafeBytes(of: &bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
    static func date(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: 600_000_000 + Double(number) * 37) }
    static func title(_ number: Int) -> String { "The title of number \(number % 977)" }
    static func word(_ number: Int) -> String { ["red", "green", "blue", "ochre", "magenta"][number % 5] }
    static func line(_ number: Int) -> String {
        "\(number % 311) Long Street, second floor, at the corner of the market"
    }
    static func text(_ number: Int) -> String { String(repeating: "words of a note ", count: 8 + number % 9) }
}
