import Foundation
import Pippin

// The same narrow model with each kind of identifier.

struct Tag: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String
}

struct Serial: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: Int64
}

protocol Narrow: Shape {
    var id: ID { get }
    var title: String { get set }
    var quantity: Int { get set }
    init(id: ID, title: String, quantity: Int)
    static func id(_ number: Int) -> ID
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> ID
    static func add(_ id: ID, to sum: inout Sum)
}

extension Narrow {
    static var columns: [String] { ["ZID", "ZTITLE", "ZQUANTITY"] }

    @inline(__always) init(number: Int) {
        self.init(id: Self.id(number), title: Made.title(number), quantity: number)
    }
    @inline(__always) init<Row: RowReader>(row: Row, at first: Int) {
        self.init(id: Self.id(row, first), title: row.text(first + 1), quantity: row.int(first + 2))
    }
    @inline(__always) func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        Self.bind(id: id, to: &writer)
        writer.text(title)
        writer.int(quantity)
    }
    mutating func change() { quantity += 1 }
    @inline(__always) func add(to sum: inout Sum) {
        Self.add(id, to: &sum)
        sum.add(title)
        sum.add(quantity)
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByInt: Narrow {
    let id: Int
    var title: String
    var quantity: Int
    init(id: Int, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYINT"
    static func id(_ number: Int) -> Int { number }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> Int { row.int(column) }
    static func bind<Writer: ColumnWriter>(id: Int, to writer: inout Writer) { writer.int(id) }
    static func add(_ id: Int, to sum: inout Sum) { sum.add(id) }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByInt64: Narrow {
    let id: Int64
    var title: String
    var quantity: Int
    init(id: Int64, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYINT64"
    static func id(_ number: Int) -> Int64 { Int64(number) }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> Int64 { row.integer(column) }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }
    static func add(_ id: Int64, to sum: inout Sum) { sum.add(id) }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByUUID: Narrow {
    let id: UUID
    var title: String
    var quantity: Int
    init(id: UUID, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYUUID"
    static func id(_ number: Int) -> UUID { Made.uuid(number) }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> UUID { row.uuid(column) }
    static func bind<Writer: ColumnWriter>(id: UUID, to writer: inout Writer) { writer.uuid(id) }
    static func add(_ id: UUID, to sum: inout Sum) { sum.add(id) }
}

/// Texts that a `String` keeps within itself: at most 15 bytes.
#if !BY_CODING
    @CoreModel
#endif
struct ByShortText: Narrow {
    let id: String
    var title: String
    var quantity: Int
    init(id: String, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYSHORTTEXT"
    static func id(_ number: Int) -> String { "N-\(number)" }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> String { row.text(column) }
    static func bind<Writer: ColumnWriter>(id: String, to writer: inout Writer) { writer.text(id) }
    static func add(_ id: String, to sum: inout Sum) { sum.add(id) }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByLongText: Narrow {
    let id: String
    var title: String
    var quantity: Int
    init(id: String, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYLONGTEXT"
    static func id(_ number: Int) -> String { "https://example.org/library/shelves/books/of/number/\(number)" }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> String { row.text(column) }
    static func bind<Writer: ColumnWriter>(id: String, to writer: inout Writer) { writer.text(id) }
    static func add(_ id: String, to sum: inout Sum) { sum.add(id) }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByTag: Narrow {
    let id: Tag
    var title: String
    var quantity: Int
    init(id: Tag, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYTAG"
    static func id(_ number: Int) -> Tag { Tag(rawValue: "N-\(number)") }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> Tag { Tag(rawValue: row.text(column)) }
    static func bind<Writer: ColumnWriter>(id: Tag, to writer: inout Writer) { writer.text(id.rawValue) }
    static func add(_ id: Tag, to sum: inout Sum) { sum.add(id.rawValue) }
}

#if !BY_CODING
    @CoreModel
#endif
struct BySerial: Narrow {
    let id: Serial
    var title: String
    var quantity: Int
    init(id: Serial, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYSERIAL"
    static func id(_ number: Int) -> Serial { Serial(rawValue: Int64(number)) }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> Serial { Serial(rawValue: row.integer(column)) }
    static func bind<Writer: ColumnWriter>(id: Serial, to writer: inout Writer) { writer.integer(id.rawValue) }
    static func add(_ id: Serial, to sum: inout Sum) { sum.add(id.rawValue) }
}

#if !BY_CODING
    @CoreModel
#endif
struct ByDate: Narrow {
    let id: Date
    var title: String
    var quantity: Int
    init(id: Date, title: String, quantity: Int) { (self.id, self.title, self.quantity) = (id, title, quantity) }
    static let table = "ZBYDATE"
    static func id(_ number: Int) -> Date { Made.date(number) }
    static func id<Row: RowReader>(_ row: Row, _ column: Int) -> Date { row.date(column) }
    static func bind<Writer: ColumnWriter>(id: Date, to writer: inout Writer) { writer.date(id) }
    static func add(_ id: Date, to sum: inout Sum) { sum.add(id) }
}
