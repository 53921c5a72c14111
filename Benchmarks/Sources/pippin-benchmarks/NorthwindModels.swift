import Pippin

// The same models, to be read and written by coding that the compiler synthesizes, and what is measured of either.

/// What an order has, whoever reads it.
protocol OrderValues {
    var id: Int { get }
    var customer: String? { get }
    var employee: Int? { get }
    var orderDate: Date? { get }
    var requiredDate: Date? { get }
    var shippedDate: Date? { get }
    var shipVia: Int? { get }
    var freight: Double? { get }
    var shipName: String? { get }
    var shipAddress: String? { get }
    var shipCity: String? { get }
    var shipRegion: String? { get }
    var shipPostalCode: String? { get }
    var shipCountry: String? { get }
}

protocol OrderModel: CoreModel, OrderValues {}

extension OrderValues {
    @inline(__always)
    func add(to sum: inout OrderSum) {
        sum.add(id)
        sum.add(customer)
        sum.add(employee ?? 0)
        sum.add(orderDate)
        sum.add(requiredDate)
        sum.add(shippedDate)
        sum.add(shipVia ?? 0)
        sum.add(Int(freight ?? 0))
        sum.add(shipName)
        sum.add(shipAddress)
        sum.add(shipCity)
        sum.add(shipRegion)
        sum.add(shipPostalCode)
        sum.add(shipCountry)
    }
}

extension Order: OrderModel {}

struct CodedOrder: OrderModel {
    let id: Int
    var customer: String?
    var employee: Int?
    var orderDate: Date?
    var requiredDate: Date?
    var shippedDate: Date?
    var shipVia: Int?
    var freight: Double?
    var shipName: String?
    var shipAddress: String?
    var shipCity: String?
    var shipRegion: String?
    var shipPostalCode: String?
    var shipCountry: String?

    static var schema: Schema<CodedOrder> { Schema(name: "Order") }
}

protocol OrderLineValues {
    var id: Int { get }
    var product: String { get }
    var unitPrice: Double { get }
    var quantity: Int { get }
    var discount: Double { get }
}

protocol OrderLineModel: CoreModel, OrderLineValues {
    init(id: Int, product: String, unitPrice: Double, quantity: Int, discount: Double)
}

extension OrderLineValues {
    @inline(__always)
    func add(to sum: inout OrderSum, place: Int) {
        sum.add(id &* (place + 1))
        sum.add(product)
        sum.add(Int(unitPrice))
        sum.add(quantity)
        sum.add(discount == 0 ? 0 : 1)
    }
}

extension OrderLine: OrderLineModel {}

struct CodedOrderLine: OrderLineModel {
    let id: Int
    var product: String
    var unitPrice: Double
    var quantity: Int
    var discount: Double

    static var schema: Schema<CodedOrderLine> { Schema(name: "OrderLine") }
}

protocol OrderWithLinesValues {
    associatedtype Line: OrderLineValues
    var id: Int { get }
    var customer: String? { get }
    var orderDate: Date? { get }
    var freight: Double? { get }
    var lines: [Line] { get }
}

protocol OrderWithLinesModel: CoreModel, OrderWithLinesValues where Line: OrderLineModel {
    init(id: Int, customer: String?, orderDate: Date?, freight: Double?, lines: [Line])
}

extension OrderWithLinesModel {
    /// The same order.
    init(_ order: OrderWithLines) {
        let lines = order.lines.map {
            Line(
                id: $0.id, product: $0.product, unitPrice: $0.unitPrice, quantity: $0.quantity, discount: $0.discount)
        }
        self.init(
            id: order.id, customer: order.customer, orderDate: order.orderDate, freight: order.freight, lines: lines)
    }
}

extension OrderWithLinesValues {
    @inline(__always)
    func add(to sum: inout OrderSum, linesInOrder: Bool = true) {
        sum.add(id)
        sum.add(customer)
        sum.add(orderDate)
        sum.add(Int(freight ?? 0))
        for (place, line) in lines.enumerated() { line.add(to: &sum, place: linesInOrder ? place : 0) }
    }
}

extension OrderWithLines: OrderWithLinesModel {}

struct CodedOrderWithLines: OrderWithLinesModel {
    let id: Int
    var customer: String?
    var orderDate: Date?
    var freight: Double?
    var lines: [CodedOrderLine]

    static var schema: Schema<CodedOrderWithLines> { Schema(.owns(\.lines), name: "BigOrder") }
}
