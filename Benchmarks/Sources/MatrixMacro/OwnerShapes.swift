import Foundation
import Pippin

// Models that own others: one, thirty and a thousand.

/// What the three kinds of owners have in common.
protocol Owner: OwnerShape where ID == Int64, Member: Part {
    var id: Int64 { get }
    var name: String { get set }
    init(id: Int64, name: String, members: [Member])
}

protocol Part: Shape where ID == Int64 {
    var id: Int64 { get }
    var product: String { get }
    var quantity: Int { get set }
    var price: Double { get }
    init(id: Int64, product: String, quantity: Int, price: Double)
}

extension Part {
    static var columns: [String] { ["ZID", "ZPRODUCT", "ZQUANTITY", "ZPRICE"] }
    @inline(__always) init(number: Int) {
        self.init(
            id: Int64(number), product: Made.title(number), quantity: number % 60, price: Double(number % 500) / 4)
    }
    @inline(__always) init<Row: RowReader>(row: Row, at first: Int) {
        self.init(
            id: row.integer(first), product: row.text(first + 1), quantity: row.int(first + 2),
            price: row.double(first + 3))
    }
    @inline(__always) func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(product)
        writer.int(quantity)
        writer.double(price)
    }
    @inline(__always) static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }
    mutating func change() { quantity += 1 }
    @inline(__always) func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(product)
        sum.add(quantity)
        sum.add(price)
    }
}

extension Owner {
    static var columns: [String] { ["ZID", "ZNAME"] }
    @inline(__always) init(number: Int) {
        let first = number * Self.members
        self.init(
            id: Int64(number), name: Made.title(number),
            members: (first..<first + Self.members).map(Member.init(number:)))
    }
    @inline(__always) init<Row: RowReader>(row: Row, at first: Int) {
        self.init(id: row.integer(first), name: row.text(first + 1), members: [])
    }
    @inline(__always) func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(name)
    }
    @inline(__always) static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }
    mutating func change() { members[members.count / 2].change() }
    @inline(__always) func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(name)
        for member in members { member.add(to: &sum) }
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct OnePart: Part {
    let id: Int64
    var product: String
    var quantity: Int
    var price: Double
    init(id: Int64, product: String, quantity: Int, price: Double) {
        (self.id, self.product, self.quantity, self.price) = (id, product, quantity, price)
    }
    static let table = "ZONEPART"
}

#if !BY_CODING
    @CoreModel
#endif
struct SomePart: Part {
    let id: Int64
    var product: String
    var quantity: Int
    var price: Double
    init(id: Int64, product: String, quantity: Int, price: Double) {
        (self.id, self.product, self.quantity, self.price) = (id, product, quantity, price)
    }
    static let table = "ZSOMEPART"
}

#if !BY_CODING
    @CoreModel
#endif
struct ManyPart: Part {
    let id: Int64
    var product: String
    var quantity: Int
    var price: Double
    init(id: Int64, product: String, quantity: Int, price: Double) {
        (self.id, self.product, self.quantity, self.price) = (id, product, quantity, price)
    }
    static let table = "ZMANYPART"
}

#if !BY_CODING
    @CoreModel
#endif
struct OwnerOfOne: Owner {
    let id: Int64
    var name: String
    var members: [OnePart]
    init(id: Int64, name: String, members: [OnePart]) {
        (self.id, self.name, self.members) = (id, name, members)
    }
    static var schema: Schema<OwnerOfOne> { Schema(.owns(\.members)) }
    static let table = "ZOWNEROFONE"
    static let members = 1
    static let count = 10_000
}

#if !BY_CODING
    @CoreModel
#endif
struct OwnerOfSome: Owner {
    let id: Int64
    var name: String
    var members: [SomePart]
    init(id: Int64, name: String, members: [SomePart]) {
        (self.id, self.name, self.members) = (id, name, members)
    }
    static var schema: Schema<OwnerOfSome> { Schema(.owns(\.members)) }
    static let table = "ZOWNEROFSOME"
    static let members = 30
    static let count = 1_500
}

#if !BY_CODING
    @CoreModel
#endif
struct OwnerOfMany: Owner {
    let id: Int64
    var name: String
    var members: [ManyPart]
    init(id: Int64, name: String, members: [ManyPart]) {
        (self.id, self.name, self.members) = (id, name, members)
    }
    static var schema: Schema<OwnerOfMany> { Schema(.owns(\.members)) }
    static let table = "ZOWNEROFMANY"
    static let members = 1_000
    static let count = 40
}
