"""Every example that needs Spark does what its page says; see `test_examples.py`."""

import pytest

from examples import ON_SPARK, run_page
from pages import name_of

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("page", ON_SPARK, ids=name_of)
def test_the_examples_of_a_page_do_what_it_says(spark, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    zone = spark.conf.get("spark.sql.session.timeZone")
    run_page(page, tmp_path)
    spark.conf.set("spark.sql.session.timeZone", zone)
