"""`deedbox demo`: two lanes of one shop, and a server that dies twice.

Lane A keeps its ladder in memory; lane B is the machine generated from
`specs/shop/orders.deed`.  Both call the same processor.  The generated package
`orders` below this one is committed and kept fresh by `deedbox build --check`.
"""
