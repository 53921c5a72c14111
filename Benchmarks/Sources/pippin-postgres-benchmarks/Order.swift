import Foundation
import PippinPostgres

/// An order with its lines, which belong to it.
@CoreModel
struct Order: CoreModel, Equatable {
    let id: Int
    var customer: String?
    var orderDate: Date?
    var freight: Double?
    var lines: [OrderLine]

    static var schema: Schema<Order> { Schema(.owns(\.lines)) }

    /// Some 31 lines each.
    static func make(_ number: Int) -> Order {
        let first = number * 31 - number / 10
        return Order(
            id: number, customer: "Customer \(number % 91)",
            orderDate: Date(timeIntervalSinceReferenceDate: Double(number) * 3600), freight: Double(number % 300) / 4,
            lines: (first..<(number + 1) * 31 - (number + 1) / 10).map(OrderLine.make))
    }
}

/// A line of an order.
@CoreModel
struct OrderLine: CoreModel, Equatable {
    let id: Int
    var product: String
    var unitPrice: Double
    var quantity: Int
    var discount: Double

    static func make(_ number: Int) -> OrderLine {
        OrderLine(
            id: number, product: "Product number \(number % 77)", unitPrice: Double(number % 500) / 4,
            quantity: number % 60 + 1, discount: number % 4 == 0 ? 0.25 : 0)
    }
}
